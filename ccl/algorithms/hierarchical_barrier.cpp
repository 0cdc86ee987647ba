// Barrier by levels: the first of each group speaks for it. Only those of the outermost groups talk across,
// by dissemination; the rest hear of it from them.
#include <algorithm>

#include "ccl/algorithms/builds.hpp"
#include "ccl/algorithms/hierarchical.hpp"

namespace strata {
namespace {

// A message is all that its sender has heard, a byte for each rank, so derivation makes it wait for that. The
// bytes themselves mean nothing: they are never set.
class Barrier {
 public:
  Barrier(Program& program, const Nest& nest, Rank me)
      : program_(program),
        stages_(stages_of(nest, me)),
        me_(me),
        heard_(program.scratch(nest.ranks.size())) {}

  void write() {
    for (std::size_t i = stages_.size(); i-- > 1;)
      if (!report(stages_[i])) return wait(i);
    across(stages_[0]);
    release(1);
  }

 private:
  bool leads(const Nest& nest) const { return nest.ranks.front() == me_; }
  static std::uint64_t ranks(const Nest& nest) { return nest.ranks.size(); }
  Slice heard(std::uint64_t begin, std::uint64_t count) const {
    return {heard_.buffer, heard_.offset + begin, count};
  }

  // To the first of the nest, if I lead an inner group of it. true: I am that, and have heard of all.
  bool report(const Stage& stage) {
    if (!leads(stage.mine())) return false;
    if (!leads(*stage.nest)) {
      program_.send(stage.nest->ranks.front(), heard(0, ranks(stage.mine())));
      return false;
    }
    std::uint64_t known = ranks(stage.mine());
    for (const Nest& other : stage.nest->inner) {
      if (leads(other)) continue;
      program_.recv(other.ranks.front(), heard(known, ranks(other)));
      known += ranks(other);
    }
    return true;
  }

  // In round k each tells the one 2^k to its right whom it has heard of.
  void across(const Stage& top) {
    const std::vector<Nest>& groups = top.nest->inner;
    const std::size_t n = groups.size();
    const auto sum = [&](std::size_t last, std::size_t count) {  // ranks of so many groups up to this one
      std::uint64_t all = 0;
      for (std::size_t i = 0; i < count; ++i) all += ranks(groups[(last + n - i) % n]);
      return all;
    };
    for (std::size_t have = 1; have < n; have *= 2) {
      const std::size_t more = std::min(have, n - have), from = (top.index + n - have) % n;
      program_.send(groups[(top.index + have) % n].ranks.front(), heard(0, sum(top.index, more)));
      program_.recv(groups[from].ranks.front(), heard(sum(top.index, have), sum(from, more)));
    }
  }

  // Who speaks for no more than its group in stage i hears of all from the first there, and tells those
  // further in.
  void wait(std::size_t i) {
    program_.recv(stages_[i].nest->ranks.front(), heard(0, heard_.length));
    release(i + 1);
  }
  void release(std::size_t begin) {
    for (std::size_t i = begin; i < stages_.size(); ++i) {
      if (!leads(*stages_[i].nest)) continue;
      for (const Nest& other : stages_[i].nest->inner)
        if (!leads(other)) program_.send(other.ranks.front(), heard(0, heard_.length));
    }
  }

  Program& program_;
  const std::vector<Stage> stages_;
  const Rank me_;
  const Slice heard_;
};

}  // namespace

void hierarchical_barrier(Program& program, const Request&, const Group& group, const Tuning&) {
  const Nest nest = nest_of(group);
  Barrier(program, nest, group.me).write();
}

}  // namespace strata
