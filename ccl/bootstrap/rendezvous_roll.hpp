// Who has come to the rendezvous and who is missing, in words.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ccl/bootstrap/rendezvous_introduction.hpp"
#include "strata/status.hpp"

namespace strata::rendezvous {

// "1, 3-7, 9"; after kRangesMax of them "and 12 more". ranks ascend.
std::string list_ranks(std::span<const int> ranks);

class Roll final {
 public:
  explicit Roll(int size) : present_(static_cast<std::size_t>(size)) {}
  int size() const { return static_cast<int>(present_.size()); }
  bool complete() const { return come_ == size(); }
  const std::optional<Introduction>& at(int rank) const { return present_[static_cast<std::size_t>(rank)]; }
  void add(const Introduction& who);
  std::vector<int> missing() const;
  // "missing: rank 1, 3 (2 of 4); here: rank 0 (a, pid 7), rank 2 (b, pid 8)"
  std::string describe() const;

 private:
  std::vector<std::optional<Introduction>> present_;
  int come_ = 0;
};

// May `who` come in, where rank 0 is `me`? Error: mismatch that names both parties and the cure.
Status judge(const Roll& roll, const Introduction& me, const Introduction& who, std::string_view rendezvous);

}  // namespace strata::rendezvous
