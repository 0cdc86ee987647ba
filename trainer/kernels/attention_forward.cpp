// Causal attention of one head, forward: softmax(q k' / sqrt(d)) v, a block of queries at a time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "trainer/kernels/attention_forward.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which says for what each pass compiles.
#include "trainer/kernels/attention-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strata::trainer::kernels::HWY_NAMESPACE {

// Row of scores -> exp(scale (score - max)), zero from `seen` to `columns`. Returns the sum; log_sum gets
// scale * max + log(sum).
HWY_INLINE float softmax_row(float* row, std::size_t seen, std::size_t columns, float scale, float* log_sum) {
  Floats largest = splat(row[0]), sum = splat(0);
  for_vectors(0, seen, [&](auto vector, std::size_t i) HWY_ATTR {
    largest = hn::Max(largest, vector.load_or(largest, row + i));
  });
  const float top = max_of(largest) * scale;
  for_vectors(0, seen, [&](auto vector, std::size_t i) HWY_ATTR {
    const Floats e =
        vector.only(hn::Exp(kFloats, hn::MulSub(vector.load(row + i), splat(scale), splat(top))));
    sum = hn::Add(sum, e);
    vector.store(e, row + i);
  });
  for (std::size_t i = seen; i < columns; ++i) row[i] = 0;
  const float total = sum_of(sum);
  *log_sum = top + std::log(total);
  return total;
}

void attention_head(const AttentionHead& head, float* memory) {
  const AttentionScratch scratch(memory, head.sequence, head.head_width);
  const float scale = 1.0f / std::sqrt(static_cast<float>(head.head_width));
  transpose(head.key, head.row_floats, head.sequence, head.head_width, scratch.keys, scratch.columns);
  for (std::size_t begin = 0; begin < head.sequence; begin += kQueryRows) {
    const QueryBlock block{begin, begin + kQueryRows < head.sequence ? begin + kQueryRows : head.sequence};
    block_scores(head, scratch, block);
    float totals[kQueryRows];
    for (std::size_t row = 0; row < block.rows(); ++row)
      totals[row] = softmax_row(scratch.scores + row * scratch.columns, begin + row + 1, block.end, scale,
                                head.log_sum + begin + row);
    float* out = head.out + begin * head.out_row_floats;
    small_product({scratch.scores, scratch.columns, 1}, {head.value, head.row_floats},
                  {out, head.out_row_floats}, {block.rows(), head.head_width, block.end}, false);
    for (std::size_t row = 0; row < block.rows(); ++row) {
      float* to = out + row * head.out_row_floats;
      const Floats share = splat(1.0f / totals[row]);
      for_vectors(0, head.head_width, [&](auto vector, std::size_t i) HWY_ATTR {
        vector.store(hn::Mul(vector.load(to + i), share), to + i);
      });
    }
  }
}

}  // namespace strata::trainer::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace strata::trainer::kernels {
HWY_EXPORT(attention_head);

std::size_t attention_scratch_floats(std::size_t sequence, std::size_t head_width) {
  return AttentionScratch::floats(sequence, head_width);
}
void attention_head(const AttentionHead& head, float* scratch) {
  HWY_DYNAMIC_DISPATCH(attention_head)(head, scratch);
}
}  // namespace strata::trainer::kernels
#endif
