// Gather and scatter of little data: the first of each outermost group collects for it, or hands out, so that
// the root has one message for each other group.
#include "ccl/algorithms/builds.hpp"
#include "ccl/algorithms/hierarchical.hpp"

namespace strata {
namespace {

// The parts of a group, one after another, as they travel.
class Bundle {
 public:
  Bundle(const Nest& group, const Parts& parts) : group_(group), parts_(parts) {}

  std::uint64_t length() const {
    std::uint64_t all = 0;
    for (const Rank rank : group_.ranks) all += parts_[rank].length;
    return all;
  }
  // Calls f(rank, its part in the bundle).
  template <class F>
  void for_each(Slice bundle, F f) const {
    for (const Rank rank : group_.ranks) {
      f(rank, Slice{bundle.buffer, bundle.offset, parts_[rank].length});
      bundle.offset += parts_[rank].length;
    }
  }

 private:
  const Nest& group_;
  const Parts& parts_;
};

}  // namespace

void hierarchical_gather(Program& program, const Request& request, const Group& group, const Tuning& tuning) {
  Writer writer(program, request, tuning);
  const Nest nest = nest_of(group);
  const Operands data = operands(request, group.size(), group.me);
  const Rank root = request.root, me = group.me;
  const Parts parts({data.out.buffer, data.out.offset, 0}, request.element_bytes(), group.size(),
                    request.count, request.counts);
  const Nest &home = nest.inner[nest.index_of(root)], &mine = nest.inner[nest.index_of(me)];
  if (me == root) {
    writer.copy(data.in, parts[me]);
    for (const Rank rank : home.ranks)
      if (rank != root) writer.recv(rank, parts[rank]);
    for (const Nest& other : nest.inner) {
      if (&other == &home) continue;
      const Bundle bundle(other, parts);
      const Slice arrived = program.scratch(bundle.length());
      writer.recv(other.ranks.front(), arrived);
      bundle.for_each(arrived, [&](Rank rank, Slice part) { writer.copy(part, parts[rank]); });
    }
  } else if (&mine == &home) {
    writer.send(root, data.in);
  } else if (me != mine.ranks.front()) {
    writer.send(mine.ranks.front(), data.in);
  } else {
    const Bundle bundle(mine, parts);
    const Slice collected = program.scratch(bundle.length());
    bundle.for_each(collected, [&](Rank rank, Slice part) {
      rank == me ? writer.copy(data.in, part) : writer.recv(rank, part);
    });
    writer.send(root, collected);
  }
}

void hierarchical_scatter(Program& program, const Request& request, const Group& group,
                          const Tuning& tuning) {
  Writer writer(program, request, tuning);
  const Nest nest = nest_of(group);
  const Operands data = operands(request, group.size(), group.me);
  const Rank root = request.root, me = group.me;
  const Parts parts({data.in.buffer, data.in.offset, 0}, request.element_bytes(), group.size(), request.count,
                    request.counts);
  const Nest &home = nest.inner[nest.index_of(root)], &mine = nest.inner[nest.index_of(me)];
  if (me == root) {
    for (const Nest& other : nest.inner) {
      if (&other == &home) continue;
      const Bundle bundle(other, parts);
      const Slice leaving = program.scratch(bundle.length());
      bundle.for_each(leaving, [&](Rank rank, Slice part) { writer.copy(parts[rank], part); });
      writer.send(other.ranks.front(), leaving);
    }
    for (const Rank rank : home.ranks)
      if (rank != root) writer.send(rank, parts[rank]);
    writer.copy(parts[me], data.out);
  } else if (&mine == &home) {
    writer.recv(root, data.out);
  } else if (me != mine.ranks.front()) {
    writer.recv(mine.ranks.front(), data.out);
  } else {
    const Bundle bundle(mine, parts);
    const Slice arrived = program.scratch(bundle.length());
    writer.recv(root, arrived);
    bundle.for_each(arrived, [&](Rank rank, Slice part) {
      rank == me ? writer.copy(part, data.out) : writer.send(rank, part);
    });
  }
}

}  // namespace strata
