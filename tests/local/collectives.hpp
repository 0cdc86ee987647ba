// What the proofs of moves go through.
#pragma once
#include "strata/types.hpp"

namespace strata::test {

inline bool rooted(Collective c) {
  return c == Collective::broadcast || c == Collective::reduce || c == Collective::gather ||
         c == Collective::scatter;
}

// All that move data.
inline constexpr Collective kAll[] = {
    Collective::broadcast,  Collective::reduce,     Collective::all_reduce, Collective::reduce_scatter,
    Collective::all_gather, Collective::all_to_all, Collective::gather,     Collective::scatter};

}  // namespace strata::test
