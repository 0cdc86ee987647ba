// Sorts the wire steps by pair of ranks; those of a pair are nearly always in the same order at both ends.
#include "ccl/planner/pairing.hpp"

#include <algorithm>

#include "ccl/base/check.hpp"

namespace strata {
namespace {

struct End {
  std::uint32_t message;
  StepId step;
  bool operator<(const End& other) const { return message < other.message; }
};

// The sends or the receives of all ranks, by (sender, receiver), each pair in program order.
class Ends final {
 public:
  Ends(std::span<const Schedule> schedules, bool sends)
      : size_(schedules.size()), begin_(size_ * size_ + 1, 0) {
    each(schedules, sends, [&](std::size_t pair, End) { ++begin_[pair + 1]; });
    for (std::size_t p = 0; p < size_ * size_; ++p) begin_[p + 1] += begin_[p];
    ends_.resize(begin_.back());
    std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
    each(schedules, sends, [&](std::size_t pair, End end) { ends_[next[pair]++] = end; });
  }
  std::span<End> of(std::size_t pair) {
    return std::span(ends_).subspan(begin_[pair], begin_[pair + 1] - begin_[pair]);
  }

 private:
  template <class What>
  void each(std::span<const Schedule> schedules, bool sends, What&& what) const {
    for (std::size_t me = 0; me < size_; ++me)
      for (StepId s = 0; s < schedules[me].steps.size(); ++s) {
        const Step& step = schedules[me].steps[s];
        if (!step.on_wire() || (step.op == Op::send) != sends) continue;
        const auto peer = static_cast<std::size_t>(step.peer);
        STRATA_CHECK(peer < size_, peer, size_);
        what(sends ? me * size_ + peer : peer * size_ + me, End{schedules[me].message[s], s});
      }
  }

  std::size_t size_;
  std::vector<std::size_t> begin_;
  std::vector<End> ends_;
};

bool same_order(std::span<const End> a, std::span<const End> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const End& x, const End& y) { return x.message == y.message; });
}

}  // namespace

Pairing::Pairing(std::span<const Schedule> schedules) {
  std::size_t total = 0;
  for (const Schedule& s : schedules) {
    first_.push_back(total);
    total += s.steps.size();
  }
  partner_.assign(total, 0);
  Ends sends(schedules, true), receives(schedules, false);
  const std::size_t n = schedules.size();
  for (std::size_t from = 0; from < n; ++from)
    for (std::size_t to = 0; to < n; ++to) {
      const std::span<End> out = sends.of(from * n + to), in = receives.of(from * n + to);
      if (!same_order(out, in)) {
        std::sort(out.begin(), out.end());
        std::sort(in.begin(), in.end());
        STRATA_CHECK(same_order(out, in), from, to, out.size(), in.size());
      }
      for (std::size_t i = 0; i < out.size(); ++i) {
        partner_[first_[from] + out[i].step] = in[i].step;
        partner_[first_[to] + in[i].step] = out[i].step;
      }
    }
}

}  // namespace strata
