// Calls of a group, what a member brings to them, and what it must get.
#pragma once
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <utility>
#include <vector>

#include "ccl/local/shm_group.hpp"
#include "strata/memory.hpp"

namespace strata::test {

using Random = std::mt19937_64;

// One collective, the same at all members: uint32 sums, which wrap, so that any order of adding is right.
struct Call {
  Collective collective;
  Rank root;
  std::uint64_t count;
  bool in_place;
  unsigned shared;                         // a bit a member: its buffers are such that others can map them
  std::vector<std::uint64_t> counts = {};  // v forms: of each member, in place of `count`

  std::uint64_t count_of(int member) const {
    return counts.empty() ? count : counts[static_cast<std::size_t>(member)];
  }
  std::uint64_t begin_of(int member) const {
    std::uint64_t begin = 0;
    for (int r = 0; r < member; ++r) begin += count_of(r);
    return begin;
  }
};

inline std::uint32_t value(std::uint64_t call, int member, std::uint64_t i) {
  return static_cast<std::uint32_t>((call * 1000003 + static_cast<std::uint64_t>(member) * 7919 + i) *
                                    2654435761u);
}

class Buffer {
 public:
  Buffer(std::uint64_t count, bool shared) : count_(count), shared_(shared) {
    if (shared)
      memory_ = static_cast<std::uint32_t*>(*allocate(std::max<std::uint64_t>(1, count * 4)));
    else
      own_.resize(count);
  }
  Buffer(Buffer&& other) noexcept
      : own_(std::move(other.own_)),
        memory_(std::exchange(other.memory_, nullptr)),
        count_(other.count_),
        shared_(other.shared_) {}
  ~Buffer() {
    if (memory_ != nullptr) CHECK(deallocate(memory_).ok());
  }
  std::uint32_t* data() { return shared_ ? memory_ : own_.data(); }
  std::uint32_t at(std::uint64_t i) {
    REQUIRE(i < count_);
    return data()[i];
  }

 private:
  std::vector<std::uint32_t> own_;
  std::uint32_t* memory_ = nullptr;
  std::uint64_t count_;
  bool shared_;
};

inline bool large_input(Collective c) {
  return c == Collective::reduce_scatter || c == Collective::all_to_all || c == Collective::scatter;
}
inline bool large_output(Collective c) {
  return c == Collective::all_gather || c == Collective::all_to_all || c == Collective::gather;
}

// What a member brings to a call, and what it must get.
class Part {
 public:
  Part(const Call& call, std::uint64_t number, int size, int me)
      : call_(call),
        number_(number),
        size_(size),
        me_(me),
        buffer_(inputs() + outputs(), (call.shared >> me & 1) != 0) {
    std::uint32_t* const in = input();
    for (std::uint64_t i = 0; i < inputs(); ++i) in[i] = value(number, me, i);
  }
  GroupCall call() {
    GroupCall c;
    c.collective = call_.collective;
    c.input = reinterpret_cast<const std::byte*>(input());
    c.output = reinterpret_cast<std::byte*>(output());
    c.in_place = call_.in_place;
    c.count_bytes = call_.count * 4;
    c.counts = call_.counts;
    c.element_bytes = 4;
    c.root = call_.root;
    c.reduce = reduce_many_kernel(DataType::uint32, ReduceOp::sum);
    c.mark = {number_, 1};
    return c;
  }
  void check() {
    const bool root = me_ == call_.root;
    const auto sum = [&](std::uint64_t i) {
      std::uint32_t all = 0;
      for (int r = 0; r < size_; ++r) all += value(number_, r, i);
      return all;
    };
    const std::uint64_t mine = call_.count_of(me_), begin = call_.begin_of(me_);
    bool right = true;
    const auto expect = [&](std::uint64_t at, std::uint64_t count, auto&& wanted) {
      for (std::uint64_t i = 0; i < count; ++i) right = right && output()[at + i] == wanted(i);
    };
    const auto expect_parts = [&](std::uint64_t from) {
      for (int r = 0; r < size_; ++r)
        expect(call_.begin_of(r), call_.count_of(r), [&](auto i) { return value(number_, r, from + i); });
    };
    switch (call_.collective) {
      case Collective::reduce:
        if (!root) break;
        [[fallthrough]];
      case Collective::all_reduce: expect(0, mine, sum); break;
      case Collective::broadcast:
        expect(0, mine, [&](auto i) { return value(number_, call_.root, i); });
        break;
      case Collective::reduce_scatter: expect(0, mine, [&](auto i) { return sum(begin + i); }); break;
      case Collective::scatter:
        expect(0, mine, [&](auto i) { return value(number_, call_.root, begin + i); });
        break;
      case Collective::gather:
        if (!root) break;
        [[fallthrough]];
      case Collective::all_gather: expect_parts(0); break;
      case Collective::all_to_all: expect_parts(begin); break;
      default: break;
    }
    REQUIRE(right);
  }
  std::byte* memory() { return reinterpret_cast<std::byte*>(buffer_.data()); }
  std::uint64_t memory_bytes() const { return (inputs() + outputs()) * 4; }

 private:
  // In place the two are one buffer, of the larger size, and the smaller lies at this member's part.
  std::uint64_t inputs() const {
    return large_input(call_.collective) ? call_.begin_of(size_) : call_.count_of(me_);
  }
  std::uint64_t outputs() const {
    return large_output(call_.collective) ? call_.begin_of(size_) : call_.count_of(me_);
  }
  std::uint32_t* input() {
    const bool part = call_.in_place && large_output(call_.collective) && !large_input(call_.collective);
    return buffer_.data() + (part ? call_.begin_of(me_) : 0);
  }
  std::uint32_t* output() {
    if (!call_.in_place) return buffer_.data() + inputs();
    const bool part = large_input(call_.collective) && !large_output(call_.collective);
    return buffer_.data() + (part ? call_.begin_of(me_) : 0);
  }

  const Call call_;
  const std::uint64_t number_;
  const int size_, me_;
  Buffer buffer_;
};

inline Call random_call(Random& random, int size) {
  constexpr Collective kAll[] = {Collective::barrier,    Collective::broadcast,      Collective::reduce,
                                 Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather,
                                 Collective::all_to_all, Collective::gather,         Collective::scatter};
  Call c{};
  c.collective = kAll[random() % std::size(kAll)];
  c.root = static_cast<Rank>(random() % static_cast<unsigned>(size));
  const std::uint64_t most[] = {3, 300, 6000, 100'000};
  c.count = c.collective == Collective::barrier ? 0 : random() % most[random() % 4];
  c.in_place = random() % 2 == 0;
  const unsigned everybody = (1u << size) - 1;
  const unsigned kinds[] = {0, everybody, static_cast<unsigned>(random()) & everybody};
  c.shared = kinds[random() % 3];
  const bool v = c.collective == Collective::all_gather || c.collective == Collective::reduce_scatter ||
                 c.collective == Collective::gather || c.collective == Collective::scatter;
  c.counts.resize(v && random() % 2 == 0 ? static_cast<std::size_t>(size) : 0);
  for (auto& count : c.counts) count = random() % 4 == 0 ? 0 : random() % (c.count + 1);
  return c;
}

}  // namespace strata::test
