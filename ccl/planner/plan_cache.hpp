// Plans a communicator has used before: a call like an earlier one is not planned again.
#pragma once
#include <cstddef>
#include <list>
#include <memory>
#include <unordered_map>

#include "ccl/algorithms/algorithm.hpp"
#include "ccl/schedule/schedule.hpp"

namespace strata {

struct Plan {
  const Algorithm* algorithm = nullptr;  // null: point to point
  Schedule schedule;
  std::uint64_t message_bytes_max = 0;  // of its longest wire step
};

struct PlanKey {
  Request request;
  const Algorithm* algorithm = nullptr;
  Tuning tuning;
  friend bool operator==(const PlanKey&, const PlanKey&) = default;
};

// Least recently used plans leave when there are more than the limit. Runs keep the plan they use.
class PlanCache final {
 public:
  static constexpr std::size_t kPlansMax = 128;

  std::shared_ptr<const Plan> find(const PlanKey& key);
  void insert(const PlanKey& key, std::shared_ptr<const Plan> plan);
  std::size_t size() const { return entries_.size(); }

 private:
  struct Hash {
    std::size_t operator()(const PlanKey& key) const;
  };
  struct Entry {
    std::shared_ptr<const Plan> plan;
    std::list<const PlanKey*>::iterator age;
  };
  std::unordered_map<PlanKey, Entry, Hash> entries_;
  std::list<const PlanKey*> by_age_;  // most recent first; keys live in entries_
};

}  // namespace strata
