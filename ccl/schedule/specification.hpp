// What a collective must do, as data: what every rank's buffers are and what its output must hold in the end.
// Written from include/strata/communicator.hpp alone, so that it can judge the algorithms.
#pragma once
#include <cstdint>
#include <vector>

#include "strata/types.hpp"

namespace strata {

// One call, as all its ranks made it.
struct Call {
  Collective collective = Collective::barrier;  // not send, recv
  int size = 1;
  std::uint64_t element_bytes = 1;
  Rank root = kNoRank;  // broadcast, reduce, gather, scatter
  bool finish = false;  // reductions: the sum is scaled in the end
  std::vector<bool>
      in_place;             // one a rank; where the interface knows it at the root only, it counts there only
  std::uint64_t count = 0;  // elements, in the interface's meaning; unless one of these is given:
  std::vector<std::uint64_t> counts;              // v forms: what rank i contributes or gets
  std::vector<std::vector<std::uint64_t>> sends;  // all-to-all-v: sends[i][j] elements go from i to j
};

inline constexpr Rank kAllRanks = -2;

// `count` elements of an output, from `begin` on, are those from `from_begin` on of rank `from`'s input, or
// of the reduction over all inputs.
struct Run {
  std::uint64_t begin;
  std::uint64_t count;
  Rank from;
  std::uint64_t from_begin;
};

struct RankSpecification {
  std::uint64_t input_count = 0;  // elements
  std::uint64_t output_count = 0;
  bool in_place = false;           // input and output are ranges of one memory:
  std::uint64_t input_begin = 0;   // elements, in place only
  std::uint64_t output_begin = 0;  // elements, in place only
  std::vector<Run> result;         // covers the output
};

struct Specification {
  std::uint64_t element_bytes = 1;
  bool finish = false;            // every element of a reduction is finished, once
  bool equal_everywhere = false;  // equal elements of all outputs are equal to the last bit
  bool barrier = false;           // nobody ends before everybody has begun
  std::vector<RankSpecification> ranks;
};

Specification specify(const Call& call);

}  // namespace strata
