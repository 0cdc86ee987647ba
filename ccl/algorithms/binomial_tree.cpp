// Binomial trees: one to all and all to one in log n rounds.
#include <algorithm>

#include "ccl/algorithms/builds.hpp"
#include "ccl/algorithms/rotation.hpp"
#include "ccl/algorithms/tree.hpp"

namespace strata {

void binomial_tree_broadcast(Program& program, const Request& request, const Group& group,
                             const Tuning& tuning) {
  Writer writer(program, request, tuning);
  tree_broadcast(writer, group, binomial_tree(group, request.root),
                 operands(request, group.size(), group.me));
}

void binomial_tree_reduce(Program& program, const Request& request, const Group& group,
                          const Tuning& tuning) {
  Writer writer(program, request, tuning);
  tree_reduce(writer, group, binomial_tree(group, request.root), operands(request, group.size(), group.me));
}

namespace {

// A member's subtree covers the positions [position, position + width) counted from the root. It holds their
// parts in that order in scratch; the root in rank order in its large buffer, and a leaf, with one part,
// where that is.
class Subtree final {
 public:
  Subtree(Program& program, const Request& request, const Group& group, Slice large, Slice mine)
      : group_(group),
        root_(request.root),
        tree_(binomial_tree(group, request.root)),
        rotation_(request, group.size(), request.root),
        own_(span_of(group.me)),
        hold_(tree_.root               ? large
              : tree_.children.empty() ? mine
                                       : program.scratch(rotation_.bytes(own_))) {}

  const Tree& tree() const { return tree_; }
  Slice my_part() const { return place({own_.begin, own_.begin + 1}); }
  // The slices that go between this member's parent and its subtree, or between it and a child's.
  std::vector<Slice> shared_with_parent() const { return places(own_); }
  std::vector<Slice> shared_with_child(int child) const { return places(span_of(child)); }

 private:
  Rotation::Run span_of(int member) const {
    const int position = group_.wrap(member - root_);
    const int width = position == 0 ? group_.size() : position & -position;
    return {position, std::min(position + width, group_.size())};
  }
  Slice place(Rotation::Run run) const {
    return tree_.root ? rotation_.in_rank_order(hold_, run)
                      : rotation_.in_rotated_order(hold_, own_.begin, run);
  }
  std::vector<Slice> places(Rotation::Run span) const {
    std::vector<Slice> result;
    for (const Rotation::Run run : rotation_.runs(span.begin, span.end)) result.push_back(place(run));
    return result;
  }

  const Group& group_;
  int root_;
  Tree tree_;
  Rotation rotation_;
  Rotation::Run own_;
  Slice hold_;
};

}  // namespace

void binomial_tree_gather(Program& program, const Request& request, const Group& group,
                          const Tuning& tuning) {
  Writer writer(program, request, tuning);
  const Operands data = operands(request, group.size(), group.me);
  const Subtree subtree(program, request, group, data.out, data.in);
  writer.copy(data.in, subtree.my_part());
  for (const int child : subtree.tree().children)
    for (const Slice slice : subtree.shared_with_child(child)) writer.recv(group.at(child), slice);
  if (subtree.tree().root) return;
  for (const Slice slice : subtree.shared_with_parent()) writer.send(group.at(subtree.tree().parent), slice);
}

void binomial_tree_scatter(Program& program, const Request& request, const Group& group,
                           const Tuning& tuning) {
  Writer writer(program, request, tuning);
  const Operands data = operands(request, group.size(), group.me);
  const Subtree subtree(program, request, group, data.in, data.out);
  if (!subtree.tree().root)
    for (const Slice slice : subtree.shared_with_parent())
      writer.recv(group.at(subtree.tree().parent), slice);
  for (const int child : subtree.tree().largest_first())
    for (const Slice slice : subtree.shared_with_child(child)) writer.send(group.at(child), slice);
  writer.copy(subtree.my_part(), data.out);
}

}  // namespace strata
