// Appends steps to a program and checks that each makes sense by itself.
#include "ccl/schedule/program.hpp"

#include "ccl/base/check.hpp"

namespace strata {
namespace {

constexpr std::uint64_t kScratchAlignment = 64;  // a cache line: areas of different steps never share one
constexpr int kChannelsMax = 256;

bool overlap(Slice a, Slice b) {
  return a.buffer == b.buffer && a.offset < b.offset + b.length && b.offset < a.offset + a.length;
}

Step make_step(Op op, Slice from, Slice into, std::uint64_t length) {
  Step step{};
  step.op = op;
  step.source = from.buffer;
  step.target = into.buffer;
  step.source_offset = from.offset;
  step.target_offset = into.offset;
  step.length = length;
  return step;
}

Step make_wire_step(Op op, Rank peer, int channel, Slice from, Slice into, std::uint64_t length) {
  STRATA_CHECK(peer >= 0, peer);
  STRATA_CHECK(channel >= 0 && channel < kChannelsMax, channel);
  Step step = make_step(op, from, into, length);
  step.peer = peer;
  step.channel = static_cast<std::uint8_t>(channel);
  return step;
}

}  // namespace

void Program::send(Rank to, Slice from, int channel) {
  if (from.length == 0) return;
  STRATA_CHECK(from.buffer != Buffer::none);
  add(make_wire_step(Op::send, to, channel, from, {}, from.length));
}

void Program::recv(Rank from, Slice into, int channel) {
  if (into.length == 0) return;
  STRATA_CHECK(into.buffer != Buffer::none);
  add(make_wire_step(Op::recv, from, channel, {}, into, into.length));
}

void Program::recv_reduce(Rank from, Slice addend, Slice into, int channel) {
  STRATA_CHECK(addend.length == into.length, addend.length, into.length);
  if (into.length == 0) return;
  STRATA_CHECK(into.buffer != Buffer::none && addend.buffer != Buffer::none);
  STRATA_CHECK(addend == into || !overlap(addend, into), addend.offset, into.offset, into.length);
  add(make_wire_step(Op::recv_reduce, from, channel, addend, into, into.length));
}

void Program::reduce(Slice from, Slice into, int fan_in, bool finish) {
  STRATA_CHECK(fan_in >= 0, fan_in);
  STRATA_CHECK(from.length == static_cast<std::uint64_t>(fan_in) * into.length, from.length, fan_in,
               into.length);
  if (into.length == 0 || (fan_in == 0 && !finish)) return;
  STRATA_CHECK(into.buffer != Buffer::none && (from.buffer != Buffer::none) == (fan_in > 0), fan_in);
  STRATA_CHECK(!overlap(from, into), from.offset, from.length, into.offset, into.length);
  Step step = make_step(Op::reduce, from, into, into.length);
  step.reduce = static_cast<std::uint32_t>(fan_in) << 1 | static_cast<std::uint32_t>(finish);
  add(step);
}

void Program::finish(Slice slice) { reduce({}, slice, 0, true); }

void Program::copy(Slice from, Slice into) {
  STRATA_CHECK(from.length == into.length, from.length, into.length);
  if (into.length == 0 || from == into) return;
  STRATA_CHECK(into.buffer != Buffer::none && from.buffer != Buffer::none);
  STRATA_CHECK(!overlap(from, into), from.offset, into.offset, into.length);
  add(make_step(Op::copy, from, into, into.length));
}

Slice Program::scratch(std::uint64_t length) {
  const std::uint64_t offset =
      (scratch_bytes_ + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
  scratch_bytes_ = offset + length;
  return {Buffer::scratch, offset, length};
}

void Program::add(const Step& step) {
  STRATA_CHECK(steps_.size() < kStepsMax, steps_.size());
  steps_.push_back(step);
}

}  // namespace strata
