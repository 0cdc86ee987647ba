// Causal attention of one head, backward: the weights are computed again from the scores and log_sum.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "trainer/kernels/attention_backward.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which says for what each pass compiles.
#include "trainer/kernels/attention-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strata::trainer::kernels::HWY_NAMESPACE {

HWY_INLINE float dot(const float* a, const float* b, std::size_t count) {
  Floats sum = splat(0);
  for_vectors(0, count, [&](auto vector, std::size_t i) HWY_ATTR {
    sum = hn::MulAdd(vector.load(a + i), vector.load(b + i), sum);
  });
  return sum_of(sum);
}

// scores -> weights p; score_grads (of p) -> gradient of the unscaled score, p (dp - out . dout) scale.
HWY_INLINE void softmax_row_backward(float* scores, float* grads, std::size_t seen, std::size_t columns,
                                     float scale, float log_sum, float along) {
  for_vectors(0, seen, [&](auto vector, std::size_t i) HWY_ATTR {
    const Floats p = hn::Exp(kFloats, hn::MulSub(vector.load(scores + i), splat(scale), splat(log_sum)));
    const Floats d = hn::Mul(hn::Sub(vector.load(grads + i), splat(along)), splat(scale));
    vector.store(p, scores + i);
    vector.store(hn::Mul(p, d), grads + i);
  });
  for (std::size_t i = seen; i < columns; ++i) scores[i] = grads[i] = 0;
}

void attention_head_backward(const AttentionHead& head, const AttentionHeadGrad& grad, float* memory) {
  const AttentionScratch scratch(memory, head.sequence, head.head_width);
  const float scale = 1.0f / std::sqrt(static_cast<float>(head.head_width));
  const std::size_t width = head.head_width, columns = scratch.columns;
  transpose(head.key, head.row_floats, head.sequence, width, scratch.keys, columns);
  transpose(head.value, head.row_floats, head.sequence, width, scratch.values, columns);
  // From the last block, which sees every key and so sets every key's and value's gradient; the others add.
  for (std::size_t end = head.sequence; end > 0;) {
    const QueryBlock block{(end - 1) / kQueryRows * kQueryRows, end};
    const bool add = end != head.sequence;
    const float* grad_out = grad.out + block.begin * head.out_row_floats;
    block_scores(head, scratch, block);
    small_product({grad_out, head.out_row_floats, 1}, {scratch.values, columns},
                  {scratch.score_grads, columns}, {block.rows(), end, width}, false);
    for (std::size_t row = 0; row < block.rows(); ++row) {
      const std::size_t at = (block.begin + row) * head.out_row_floats;
      softmax_row_backward(scratch.scores + row * columns, scratch.score_grads + row * columns,
                           block.begin + row + 1, end, scale, head.log_sum[block.begin + row],
                           dot(head.out + at, grad.out + at, width));
    }
    small_product({scratch.score_grads, columns, 1}, {head.key, head.row_floats},
                  {grad.query + block.begin * head.row_floats, head.row_floats}, {block.rows(), width, end},
                  false);
    small_product({scratch.score_grads, 1, columns},
                  {head.query + block.begin * head.row_floats, head.row_floats}, {grad.key, head.row_floats},
                  {end, width, block.rows()}, add);
    small_product({scratch.scores, 1, columns}, {grad_out, head.out_row_floats},
                  {grad.value, head.row_floats}, {end, width, block.rows()}, add);
    end = block.begin;
  }
}

}  // namespace strata::trainer::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace strata::trainer::kernels {
HWY_EXPORT(attention_head_backward);

void attention_head_backward(const AttentionHead& head, const AttentionHeadGrad& grad, float* scratch) {
  HWY_DYNAMIC_DISPATCH(attention_head_backward)(head, grad, scratch);
}
}  // namespace strata::trainer::kernels
#endif
