// What a GPT step asks of the machine it runs on: memory and about fifteen operations on float32 matrices.
// The model is written against this alone; the CPU is one implementation.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "strata/status.hpp"

namespace strata::trainer {

// Owns zeroed floats of a device; aligned to 64 bytes.
struct FreeFloats {
  std::size_t bytes = 0;
  void operator()(float* memory) const;
};
using DeviceFloats = std::unique_ptr<float[], FreeFloats>;

// Row-major c[rows, columns] (+)= a b, summed over `depth`. A transposed matrix is stored as [depth, rows]
// (a) or [columns, depth] (b).
struct Product {
  bool transpose_a = false, transpose_b = false, accumulate = false;
  std::int64_t rows = 0, columns = 0, depth = 0;
  auto operator<=>(const Product&) const = default;
};

struct LayerNormSaved {
  float *mean, *rstd;  // [rows]
};

// qkv is [sequences * sequence, 3 * heads * head_width]; out is [sequences * sequence, heads * head_width].
struct AttentionShape {
  std::size_t sequences, sequence, heads, head_width;
};

struct AdamWOptions {
  float learning_rate, beta1, beta2, epsilon, weight_decay;
  float correction1, correction2;  // 1 / (1 - beta^t)
  float grad_scale;                // the gradient is multiplied by it first
};

// One thread uses a device. Operations run in order; those that return a value have finished, and
// synchronize() waits for the others. `rows` and `width` describe row-major matrices.
class Device {
 public:
  virtual ~Device() = default;
  virtual const char* name() const = 0;
  virtual Expected<DeviceFloats> allocate(std::size_t count) = 0;
  virtual void synchronize() = 0;

  virtual void zero(std::size_t count, float* x) = 0;
  virtual void multiply(const Product& product, const float* a, const float* b, float* c) = 0;
  // out[row] = bias (+ residual[row]); residual may be null.
  virtual void fill_rows(std::size_t rows, std::size_t width, const float* bias, const float* residual,
                         float* out) = 0;
  // sums[column] += the sum of the column.
  virtual void add_column_sums(std::size_t rows, std::size_t width, const float* in, float* sums) = 0;
  virtual void embed(std::size_t rows, std::size_t width, std::size_t sequence, const std::int32_t* tokens,
                     const float* token_table, const float* position_table, float* out) = 0;
  virtual void embed_backward(std::size_t rows, std::size_t width, std::size_t sequence,
                              const std::int32_t* tokens, const float* grad, float* token_grad,
                              float* position_grad) = 0;
  virtual void layer_norm(std::size_t rows, std::size_t width, const float* x, const float* weight,
                          const float* bias, LayerNormSaved saved, float* out) = 0;
  // grad_x, weight_grad and bias_grad are added to.
  virtual void layer_norm_backward(std::size_t rows, std::size_t width, const float* x, const float* weight,
                                   LayerNormSaved saved, const float* grad_out, float* grad_x,
                                   float* weight_grad, float* bias_grad) = 0;
  virtual void gelu(std::size_t count, const float* x, float* out) = 0;
  // grad *= the derivative at x.
  virtual void gelu_backward(std::size_t count, const float* x, float* grad) = 0;
  // log_sum is [sequences * heads * sequence], kept for the way back.
  virtual void attention(const AttentionShape& shape, const float* qkv, float* out, float* log_sum) = 0;
  virtual void attention_backward(const AttentionShape& shape, const float* qkv, const float* out,
                                  const float* log_sum, const float* grad_out, float* grad_qkv) = 0;
  // The sum over rows of -log softmax(logits)[target]. If grad_scale is not 0, the logits become the gradient
  // of grad_scale times that sum. `losses` is scratch of [rows].
  virtual double cross_entropy(std::size_t rows, std::size_t vocabulary, const std::int32_t* targets,
                               float grad_scale, float* logits, float* losses) = 0;
  virtual double sum_of_squares(std::size_t count, const float* x) = 0;
  // One AdamW step; leaves the gradients zero.
  virtual void adamw(std::size_t count, const AdamWOptions& options, float* weights, float* grads,
                     float* mean, float* variance) = 0;
};

// threads: of this rank; 0 takes what OpenMP would.
std::unique_ptr<Device> make_cpu_device(int threads);

}  // namespace strata::trainer
