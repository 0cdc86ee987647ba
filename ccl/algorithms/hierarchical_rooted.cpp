// Broadcast and reduce: the root's outermost group shares the data, so that they cross between groups over
// all its ranks' NICs, once into each group, in a chain.
#include <algorithm>

#include "ccl/algorithms/builds.hpp"
#include "ccl/algorithms/hierarchical.hpp"

namespace strata {
namespace {

// How one segment is held, seen from one rank.
class Held {
 public:
  Held(const std::vector<Stage>& stages, const Interval& data, Rank root, Rank me)
      : home_(stages.front().nest->index_of(root)), mine_(stages.front().index), me_(me) {
    for (const Nest& group : stages.front().nest->inner) groups_.push_back(share_out(group, data));
    for (auto stage = stages.begin() + 1; stage != stages.end(); ++stage) {
      std::vector<Holdings> inner;
      for (const Nest& group : stage->nest->inner) inner.push_back(share_out(group, data));
      within_.push_back(exchanges(inner, share_out(*stage->nest, data), stage->index, me));
    }
  }

  bool at_home() const { return mine_ == home_; }
  const Holdings& home() const { return groups_[home_]; }  // of the root's group
  // Of my group, from the outside in.
  const std::vector<std::vector<Exchange>>& within() const { return within_; }

  // The chain of an interval that I hold, from one group to the next; the root's group is its beginning.
  struct Link {
    Interval interval;
    Rank before = kNoRank, after = kNoRank;
  };
  std::vector<Link> chain() const {
    std::vector<Link> links;
    const std::size_t n = groups_.size();
    for (const Cut& c : cut(groups_)) {
      if (c.owners[mine_] != me_) continue;
      const std::size_t position = (mine_ + n - home_) % n;
      links.push_back({c.interval, position > 0 ? c.owners[(mine_ + n - 1) % n] : kNoRank,
                       position + 1 < n ? c.owners[(mine_ + 1) % n] : kNoRank});
    }
    return links;
  }

 private:
  std::size_t home_, mine_;
  Rank me_;
  std::vector<Holdings> groups_;
  std::vector<std::vector<Exchange>> within_;
};

// Everybody but the root, which has it all, gets everything.
void spread(Writer& writer, const Exchange& exchange, Rank root, const Where& from, const Where& into) {
  const Group& group = exchange.group;
  const Rank me = group.at(group.me);
  for (int k = 1; k < group.size(); ++k) {
    const int to = group.wrap(group.me + k), source = group.wrap(group.me - k);
    if (group.at(to) != root)
      for (const Interval& i : exchange.shares[static_cast<std::size_t>(group.me)])
        writer.send(group.at(to), from(i));
    if (me != root)
      for (const Interval& i : exchange.shares[static_cast<std::size_t>(source)])
        writer.recv(group.at(source), into(i));
  }
}

void broadcast_segment(Writer& writer, const Held& held, Rank root, Rank me, const Where& in,
                       const Where& out) {
  const Where& from = me == root ? in : out;
  if (held.at_home())
    for (const Holding& h : held.home()) {
      if (h.owner == root) continue;
      if (me == root) writer.send(h.owner, in(h.interval));
      if (me == h.owner) writer.recv(root, out(h.interval));
    }
  for (const auto& link : held.chain()) {
    if (link.before != kNoRank) writer.recv(link.before, out(link.interval));
    if (link.after != kNoRank) writer.send(link.after, from(link.interval));
  }
  for (const auto& level : held.within())
    for (const Exchange& e : level) spread(writer, e, root, from, out);
}

// A broadcast backwards. `image`: where sums are kept.
void reduce_segment(HierarchicalCall& call, const Held& held, Rank root, const Where& in,
                    const Where& image) {
  Writer& writer = call.writer;
  const auto& levels = held.within();
  for (auto level = levels.rbegin(); level != levels.rend(); ++level)
    for (const Exchange& e : *level)
      call.exchanger.reduce_scatter(e, level == levels.rbegin() ? in : image, image, image, false);
  const Where& from = levels.empty() ? in : image;
  for (const auto& link : held.chain()) {
    if (link.after != kNoRank) writer.recv_reduce(link.after, from(link.interval), image(link.interval));
    if (link.before != kNoRank)
      writer.send(link.before, link.after != kNoRank ? image(link.interval) : from(link.interval));
    if (held.at_home()) writer.finish(image(link.interval));
  }
  if (!held.at_home()) return;
  for (const Holding& h : held.home()) {
    if (h.owner == root) continue;
    if (call.me == root) writer.recv(h.owner, image(h.interval));
    if (call.me == h.owner) writer.send(root, image(h.interval));
  }
}

}  // namespace

void hierarchical_broadcast(Program& program, const Request& request, const Group& group,
                            const Tuning& tuning) {
  HierarchicalCall call(program, request, group, tuning, Exchanger::Pattern::ring);
  const Where in = in_order(call.data.in, call.element), out = in_order(call.data.out, call.element);
  for (std::uint64_t i = 0; i < call.count; ++i)
    broadcast_segment(call.writer,
                      Held(call.stages, segment({0, request.count}, i, call.count), request.root, call.me),
                      request.root, call.me, in, out);
  if (call.me == request.root) call.writer.copy(call.data.in, call.data.out);
}

void hierarchical_reduce(Program& program, const Request& request, const Group& group, const Tuning& tuning) {
  HierarchicalCall call(program, request, group, tuning, Exchanger::Pattern::ring);
  const Where in = in_order(call.data.in, call.element), out = in_order(call.data.out, call.element);
  const bool is_root = call.me == request.root;
  const std::uint64_t longest = segment({0, request.count}, 0, call.count).end * call.element;
  Slots slots = call.slots(is_root ? 0 : longest);
  for (std::uint64_t i = 0; i < call.count; ++i) {
    const Interval part = segment({0, request.count}, i, call.count);
    const Where image = is_root ? out : packed(slots.next(longest), {{part, call.me}}, call.element);
    reduce_segment(call, Held(call.stages, part, request.root, call.me), request.root, in, image);
  }
}

}  // namespace strata
