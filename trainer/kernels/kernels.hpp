// The loops of a GPT step on the CPU, each for a range of rows, columns or heads, for one thread. Matrices
// are row-major float32. Highway compiles them for several instruction sets and takes the best at run time.
#pragma once
#include <cstddef>
#include <cstdint>

namespace strata::trainer::kernels {

struct Range {
  std::size_t begin, end;
};

// out[row] = bias (+ residual[row]); residual may be null.
void fill_rows(Range rows, std::size_t width, const float* bias, const float* residual, float* out);
// sums[column] += the sum over all `rows` of in[row, column], for the columns of the range.
void column_sums(Range columns, std::size_t rows, std::size_t width, const float* in, float* sums);
// out[row] = tokens_table[tokens[row]] + positions_table[row % sequence].
void embed(Range rows, std::size_t width, std::size_t sequence, const std::int32_t* tokens,
           const float* token_table, const float* position_table, float* out);
// The transpose of embed, for the columns of the range: adds grad[row] to the rows it came from.
void embed_backward(Range columns, std::size_t rows, std::size_t width, std::size_t sequence,
                    const std::int32_t* tokens, const float* grad, float* token_grad, float* position_grad);

// out = (x - mean) * rstd * weight + bias, by row; keeps mean and rstd for the way back.
struct LayerNorm {
  std::size_t width;
  const float *weight, *bias;
  float *mean, *rstd;
};
void layer_norm(Range rows, const LayerNorm& norm, const float* x, float* out);
// grad_x += the gradient through the normalisation.
void layer_norm_backward(Range rows, const LayerNorm& norm, const float* x, const float* grad_out,
                         float* grad_x);
// weight_grad and bias_grad += their gradients, for the columns of the range.
void layer_norm_weight_grad(Range columns, std::size_t rows, const LayerNorm& norm, const float* x,
                            const float* grad_out, float* weight_grad, float* bias_grad);

// GELU in GPT-2's form: x / (1 + exp(-2 sqrt(2 / pi) (x + 0.044715 x^3))).
void gelu(Range elements, const float* x, float* out);
// grad *= the derivative at x.
void gelu_backward(Range elements, const float* x, float* grad);

// losses[row] = -log softmax(logits[row])[targets[row]]; logits become the gradient of grad_scale *
// sum(losses) if grad_scale is not 0.
void cross_entropy(Range rows, std::size_t vocabulary, const std::int32_t* targets, float grad_scale,
                   float* logits, float* losses);

// Causal attention of one (sequence, head). qkv has rows of [all queries | all keys | all values],
// `row_floats` apart; the pointers below are at this head's first element. No sequence x sequence matrix is
// kept: a block of queries at a time, with the logarithm of each softmax's denominator for the way back.
struct AttentionHead {
  std::size_t sequence, head_width, row_floats, out_row_floats;
  const float *query, *key, *value;
  float* out;
  float* log_sum;  // [sequence]
};
struct AttentionHeadGrad {
  const float* out;            // gradient of AttentionHead::out, same layout
  float *query, *key, *value;  // overwritten, layout of qkv
};
std::size_t attention_scratch_floats(std::size_t sequence, std::size_t head_width);
void attention_head(const AttentionHead& head, float* scratch);
void attention_head_backward(const AttentionHead& head, const AttentionHeadGrad& grad, float* scratch);

// One AdamW step (Loshchilov & Hutter 2019) with decoupled decay. The gradient is scaled first (clipping) and
// left zero, ready for the next step's sums.
struct AdamWStep {
  float learning_rate, beta1, beta2, epsilon, weight_decay;
  float correction1, correction2;  // 1 / (1 - beta^t)
  float grad_scale;
};
void adamw(Range elements, const AdamWStep& step, float* weights, float* grads, float* mean, float* variance);

double sum_of_squares(Range elements, const float* x);

const char* vector_target();

}  // namespace strata::trainer::kernels
