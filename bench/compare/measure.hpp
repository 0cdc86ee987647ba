// Measures a peer: whatever has ranks, a barrier and calls.
#pragma once
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>

#include "bench/compare/method.hpp"

namespace strata::compare {

// call(): with this root, ended on this rank when it returns. slowest(): each number becomes the largest that
// any rank gives for it.
template <class P>
concept Ranks = requires(P peer, int root, std::span<double> numbers) {
  { peer.rank() } -> std::same_as<int>;
  { peer.size() } -> std::same_as<int>;
  peer.call(root);
  peer.barrier();
  peer.slowest(numbers);
};

// prepare(): nothing if it cannot do this collective at this size; else buffers that stay until the next
// prepare(), and call() does it.
template <class P>
concept Peer = Ranks<P> && requires(P peer, Collective collective, std::uint64_t bytes) {
  { peer.prepare(collective, bytes) } -> std::same_as<std::optional<Buffers>>;
};

// One size of one collective. All functions are collective.
template <Ranks P>
class Measurement final {
 public:
  Measurement(P& peer, const Arguments& arguments, Buffers buffers)
      : peer_(peer), arguments_(arguments), buffers_(buffers) {}

  // Of a call whose root is rank 0.
  bool results_are_right() {
    fill(arguments_.collective, peer_.rank(), buffers_);
    root_ = 0;
    peer_.barrier();
    next_call();
    peer_.barrier();
    double wrong = is_right(arguments_.collective, peer_.rank(), peer_.size(), buffers_) ? 0 : 1;
    peer_.slowest({&wrong, 1});
    clear(buffers_);
    return wrong == 0;
  }

  // The better of two tries, so that what only the first call does has no say.
  double estimate_s() {
    double tries[2];
    for (double& time : tries) time = sample_s(2, false);
    peer_.slowest(tries);
    return std::min(tries[0], tries[1]);
  }

  std::vector<double> times_s(const Plan& plan) {
    std::vector<double> times;
    for (int i = -plan.warmups; i < plan.samples; ++i) {
      const double time = sample_s(plan.calls, arguments_.touched);
      if (i >= 0) times.push_back(time);
    }
    peer_.barrier();
    peer_.slowest(times);
    return times;
  }

 private:
  double sample_s(int calls, bool touched) {
    if (touched) touch(buffers_);
    peer_.barrier();
    const double begin = now_s();
    for (int i = 0; i < calls; ++i) next_call();
    return (now_s() - begin) / calls;
  }

  void next_call() {
    peer_.call(root_);
    root_ = (root_ + 1) % peer_.size();
  }

  P& peer_;
  const Arguments& arguments_;
  Buffers buffers_;
  int root_ = 0;
};

// Times calls of `parts` equal parts each and prints a row of one part, on rank 0.
template <Ranks P>
void measure_and_print(P& peer, Measurement<P>& measurement, const Arguments& arguments, const Row& row,
                       int parts = 1) {
  const Plan plan = plan_for(row.bytes, measurement.estimate_s(), arguments);
  std::vector<double> times = measurement.times_s(plan);
  for (double& time : times) time /= parts;
  if (peer.rank() == 0) print_row(row, plan, times);
}

// Prints a row for each size, on rank 0. Returns the exit status: 1 if a result was wrong.
template <Peer P>
int measure_all(P& peer, const Arguments& arguments, const std::string& variant) {
  int status = 0;
  for (std::uint64_t bytes : arguments.sizes) {
    const std::optional<Buffers> buffers = peer.prepare(arguments.collective, bytes);
    if (!buffers) continue;
    Measurement<P> measurement(peer, arguments, *buffers);
    const bool right = measurement.results_are_right();
    measure_and_print(peer, measurement, arguments,
                      {variant, std::string(to_string(arguments.collective)), peer.size(), bytes, right},
                      messages_per_call(arguments.collective, bytes));
    if (!right) status = 1;
  }
  return status;
}

}  // namespace strata::compare
