// What the two directions of attention share: blocks of queries, their scores, the scratch they live in.
#if defined(STRATA_TRAINER_ATTENTION_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STRATA_TRAINER_ATTENTION_INL
#undef STRATA_TRAINER_ATTENTION_INL
#else
#define STRATA_TRAINER_ATTENTION_INL
#endif
#include <cmath>

#include "trainer/kernels/attention_scratch.hpp"
#include "trainer/kernels/kernels.hpp"
#include "trainer/kernels/small_product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strata::trainer::kernels::HWY_NAMESPACE {

// Query rows [begin, end) see the keys [0, end), each row up to its own position.
struct QueryBlock {
  std::size_t begin, end;
  std::size_t rows() const { return end - begin; }
};

// scores[row][key] = query . key for the block: wanted and unwanted (later) keys alike.
HWY_INLINE void block_scores(const AttentionHead& head, const AttentionScratch& scratch, QueryBlock block) {
  small_product({head.query + block.begin * head.row_floats, head.row_floats, 1},
                {scratch.keys, scratch.columns}, {scratch.scores, scratch.columns},
                {block.rows(), block.end, head.head_width}, false);
}

}  // namespace strata::trainer::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
