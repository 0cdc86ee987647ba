// What every algorithm is given and what it is: a pure function that writes one rank's program.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ccl/schedule/program.hpp"
#include "ccl/topology/hierarchy.hpp"
#include "strata/types.hpp"

namespace strata {

// The ranks that take part, in order, and which of them is me. An index in the group is not a rank: at()
// maps.
struct Group {
  std::vector<Rank> ranks;
  int me = 0;
  // How the members sit, by their index here; null: nothing is known. The same on all of them.
  std::shared_ptr<const topology::Hierarchy> hierarchy;
  int size() const { return static_cast<int>(ranks.size()); }
  int wrap(int i) const { return ((i % size()) + size()) % size(); }
  Rank at(int i) const { return ranks[static_cast<std::size_t>(wrap(i))]; }
};
Group whole_group(int size, int me, std::shared_ptr<const topology::Hierarchy> hierarchy = nullptr);

// One call, without its pointers. Two ranks' requests of one call differ in nothing but, for all-to-all-v,
// the counts.
struct Request {
  Collective collective = Collective::barrier;  // not send, recv
  DataType type = DataType::uint8;
  ReduceOp op = ReduceOp::sum;
  Rank root = kNoRank;      // broadcast, reduce, gather, scatter: index in the group
  bool in_place = false;    // as include/strata/communicator.hpp defines it
  std::uint64_t count = 0;  // elements, in the meaning of the call's interface (per rank where it says so)
  // v forms: one count a rank (what rank i contributes or gets); empty: `count` each. All-to-all-v: what I
  // send.
  std::vector<std::uint64_t> counts;
  std::vector<std::uint64_t> recv_counts;  // all-to-all-v only: what I get from each

  std::uint64_t element_bytes() const { return size_of(type); }
  bool reduces() const;
  bool needs_finish() const { return op == ReduceOp::average || op == ReduceOp::scaled_sum; }  // if reduces()
  friend bool operator==(const Request&, const Request&) = default;
};

// How the parts of a large buffer lie: part i of all of them, in rank order, packed.
class Parts {
 public:
  // `size` parts; each of count elements if counts is empty.
  Parts(Slice whole_from, std::uint64_t element_bytes, int size, std::uint64_t count,
        std::span<const std::uint64_t> counts);
  Slice operator[](int i) const;  // bytes of part i
  Slice whole() const { return whole_; }

 private:
  Slice whole_;
  std::vector<std::uint64_t> begin_;  // size + 1 byte offsets relative to the whole
};

// The part `index` of `count` nearly equal parts of `whole`, cut between elements.
Slice part(Slice whole, int index, int count, std::uint64_t element_bytes);

// The call's buffers as this rank's program must name them. In place both names mean the same memory and
// derivation has to know, so the smaller buffer is then a slice of the larger.
struct Operands {
  Slice in, out;  // empty where the rank has none (e.g. `in` of a broadcast outside the root)
};
Operands operands(const Request& request, int size, int me);

struct Tuning {
  int channels = 1;  // parallel paths; at least 1
  std::uint64_t segment_bytes =
      1 << 20;  // pipelined algorithms cut their data into pieces of about this size
  friend bool operator==(const Tuning&, const Tuning&) = default;
};

struct Algorithm {
  std::string_view name;
  Collective collective;
  bool (*supports)(const Request&, const Group&);
  void (*build)(Program&, const Request&, const Group&, const Tuning&);
};

// Every algorithm there is; for each collective the first that supports everything comes last, as the
// fallback.
std::span<const Algorithm> catalog();
// The algorithm of that name for the collective; nullptr if there is none.
const Algorithm* find_algorithm(Collective collective, std::string_view name);

}  // namespace strata
