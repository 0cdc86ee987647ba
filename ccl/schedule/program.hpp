// What an algorithm writes: the steps of one rank in straight-line order. No order beyond that is ever
// stated: derive() finds what must wait from what each step reads and writes.
#pragma once
#include <vector>

#include "ccl/schedule/step.hpp"

namespace strata {

// Empty slices add no step, and a copy of a slice onto itself adds none.
class Program {
 public:
  void send(Rank to, Slice from, int channel = 0);
  void recv(Rank from, Slice into, int channel = 0);
  void recv_reduce(Rank from, Slice into, int channel = 0) { recv_reduce(from, into, into, channel); }
  // into = addend (op) received
  void recv_reduce(Rank from, Slice addend, Slice into, int channel);
  // into = into (op) each of the `fan_in` slices of into's length that follow each other in `from`
  // (from.length == fan_in * into.length).
  void reduce(Slice from, Slice into, int fan_in = 1, bool finish = false);
  // Applies the operation's last scaling to `slice`; every element of the result needs it exactly once.
  void finish(Slice slice);
  void copy(Slice from, Slice into);
  // A fresh area of scratch. Its contents are undefined until written.
  Slice scratch(std::uint64_t length);

  const std::vector<Step>& steps() const { return steps_; }
  std::uint64_t scratch_bytes() const { return scratch_bytes_; }

 private:
  void add(const Step& step);

  std::vector<Step> steps_;
  std::uint64_t scratch_bytes_ = 0;
};

}  // namespace strata
