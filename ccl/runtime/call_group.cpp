// Grouped calls: a thread's operations between start and end begin together.
#include <utility>
#include <vector>

#include "ccl/runtime/communicator_impl.hpp"

namespace strata {
namespace {

struct Held {
  std::shared_ptr<Engine> engine;
  std::unique_ptr<Submission> submission;
};
struct ThreadGroup {
  int depth = 0;
  std::vector<Held> held;
  std::vector<Work> works;
};
thread_local ThreadGroup group;

}  // namespace

bool in_group() { return group.depth > 0; }

bool keep_for_group(const std::shared_ptr<Engine>& engine, std::unique_ptr<Submission>& submission) {
  if (group.depth == 0) return false;
  group.works.emplace_back(submission->work);
  group.held.push_back({engine, std::move(submission)});
  return true;
}

GroupBypass::GroupBypass() : depth_(std::exchange(group.depth, 0)) {}
GroupBypass::~GroupBypass() { group.depth = depth_; }

void group_start() { ++group.depth; }

Work group_end() {
  if (group.depth == 0)
    return Work(Status(ErrorCode::invalid_argument, "group_end() without a group_start() on this thread"));
  if (--group.depth > 0) return {};
  std::vector<Held> held = std::exchange(group.held, {});
  std::vector<Work> works = std::exchange(group.works, {});
  for (Held& h : held) hand_over(*h.engine, std::move(h.submission));
  if (works.empty()) return {};
  return Work(std::make_shared<WorkState>(std::move(works)));
}

}  // namespace strata
