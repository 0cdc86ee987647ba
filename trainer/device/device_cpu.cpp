// The CPU as a device: kernels over rows, columns and heads shared out by OpenMP, products by a library. Sums
// are split by column, never by row, so results do not depend on the number of threads.
#include <omp.h>
#include <sys/mman.h>

#include <algorithm>
#include <string>
#include <vector>

#include "trainer/device/device.hpp"
#include "trainer/device/products.hpp"
#include "trainer/kernels/kernels.hpp"

namespace strata::trainer {

void FreeFloats::operator()(float* memory) const { ::munmap(memory, bytes); }

namespace {

using kernels::Range;
constexpr std::size_t kLineFloats = 16;               // ranges of columns and elements begin on cache lines
constexpr std::size_t kFloatsPerThreadMin = 1 << 14;  // less work than this is not worth waking a thread

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(int threads)
      : threads_(threads > 0 ? threads : omp_get_max_threads()), products_(make_products()) {
    omp_set_num_threads(threads_);
  }

  const char* name() const override { return "cpu"; }
  void synchronize() override {}

  Expected<DeviceFloats> allocate(std::size_t count) override {
    const std::size_t bytes = std::max<std::size_t>(count, 1) * sizeof(float);
    void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      return Status(ErrorCode::out_of_memory,
                    "no " + std::to_string(bytes >> 20) +
                        " MiB of memory for the model; make width, layers or micro_batch smaller");
    ::madvise(memory, bytes, MADV_HUGEPAGE);
    return DeviceFloats(static_cast<float*>(memory), FreeFloats{bytes});
  }

  void zero(std::size_t count, float* x) override {
    share(count, kLineFloats, 1, [&](Range range) { std::fill(x + range.begin, x + range.end, 0.0f); });
  }
  void multiply(const Product& product, const float* a, const float* b, float* c) override {
    products_->multiply(product, a, b, c);
  }
  void fill_rows(std::size_t rows, std::size_t width, const float* bias, const float* residual,
                 float* out) override {
    share(rows, 1, width, [&](Range range) { kernels::fill_rows(range, width, bias, residual, out); });
  }
  void add_column_sums(std::size_t rows, std::size_t width, const float* in, float* sums) override {
    share(width, kLineFloats, rows, [&](Range range) { kernels::column_sums(range, rows, width, in, sums); });
  }
  void embed(std::size_t rows, std::size_t width, std::size_t sequence, const std::int32_t* tokens,
             const float* token_table, const float* position_table, float* out) override {
    share(rows, 1, width, [&](Range range) {
      kernels::embed(range, width, sequence, tokens, token_table, position_table, out);
    });
  }
  void embed_backward(std::size_t rows, std::size_t width, std::size_t sequence, const std::int32_t* tokens,
                      const float* grad, float* token_grad, float* position_grad) override {
    share(width, kLineFloats, rows, [&](Range range) {
      kernels::embed_backward(range, rows, width, sequence, tokens, grad, token_grad, position_grad);
    });
  }
  void layer_norm(std::size_t rows, std::size_t width, const float* x, const float* weight, const float* bias,
                  LayerNormSaved saved, float* out) override {
    const kernels::LayerNorm norm{width, weight, bias, saved.mean, saved.rstd};
    share(rows, 1, width, [&](Range range) { kernels::layer_norm(range, norm, x, out); });
  }
  void layer_norm_backward(std::size_t rows, std::size_t width, const float* x, const float* weight,
                           LayerNormSaved saved, const float* grad_out, float* grad_x, float* weight_grad,
                           float* bias_grad) override {
    const kernels::LayerNorm norm{width, weight, nullptr, saved.mean, saved.rstd};
    share(rows, 1, width,
          [&](Range range) { kernels::layer_norm_backward(range, norm, x, grad_out, grad_x); });
    share(width, kLineFloats, rows, [&](Range range) {
      kernels::layer_norm_weight_grad(range, rows, norm, x, grad_out, weight_grad, bias_grad);
    });
  }
  void gelu(std::size_t count, const float* x, float* out) override {
    share(count, kLineFloats, 1, [&](Range range) { kernels::gelu(range, x, out); });
  }
  void gelu_backward(std::size_t count, const float* x, float* grad) override {
    share(count, kLineFloats, 1, [&](Range range) { kernels::gelu_backward(range, x, grad); });
  }

  void attention(const AttentionShape& shape, const float* qkv, float* out, float* log_sum) override {
    each_head(shape, [&](std::size_t sequence, std::size_t head, float* scratch) {
      kernels::attention_head(head_of(shape, sequence, head, qkv, out, log_sum), scratch);
    });
  }
  void attention_backward(const AttentionShape& shape, const float* qkv, const float* out,
                          const float* log_sum, const float* grad_out, float* grad_qkv) override {
    each_head(shape, [&](std::size_t sequence, std::size_t head, float* scratch) {
      // The kernel only reads out and log_sum on the way back.
      const auto forward =
          head_of(shape, sequence, head, qkv, const_cast<float*>(out), const_cast<float*>(log_sum));
      const std::size_t width = shape.heads * shape.head_width, at = forward.query - qkv;
      kernels::attention_head_backward(
          forward,
          {grad_out + (forward.out - out), grad_qkv + at, grad_qkv + at + width, grad_qkv + at + 2 * width},
          scratch);
    });
  }

  double cross_entropy(std::size_t rows, std::size_t vocabulary, const std::int32_t* targets,
                       float grad_scale, float* logits, float* losses) override {
    share(rows, 1, vocabulary, [&](Range range) {
      kernels::cross_entropy(range, vocabulary, targets, grad_scale, logits, losses);
    });
    double sum = 0;
    for (std::size_t row = 0; row < rows; ++row) sum += static_cast<double>(losses[row]);
    return sum;
  }

  double sum_of_squares(std::size_t count, const float* x) override {
    constexpr std::size_t kPart = 1 << 16;  // parts of a fixed size: the same sum for any number of threads
    partial_sums_.resize((count + kPart - 1) / kPart);
    share(partial_sums_.size(), 1, kPart, [&](Range range) {
      for (std::size_t part = range.begin; part < range.end; ++part)
        partial_sums_[part] = kernels::sum_of_squares({part * kPart, std::min(count, (part + 1) * kPart)}, x);
    });
    double sum = 0;
    for (const double part : partial_sums_) sum += part;
    return sum;
  }
  void adamw(std::size_t count, const AdamWOptions& o, float* weights, float* grads, float* mean,
             float* variance) override {
    const kernels::AdamWStep step{o.learning_rate, o.beta1,       o.beta2,       o.epsilon,
                                  o.weight_decay,  o.correction1, o.correction2, o.grad_scale};
    share(count, kLineFloats, 1,
          [&](Range range) { kernels::adamw(range, step, weights, grads, mean, variance); });
  }

 private:
  // body(range) for parts of [0, count), cut at multiples of `grain`, one part a thread; an item costs
  // `floats`.
  template <class Body>
  void share(std::size_t count, std::size_t grain, std::size_t floats, const Body& body) {
    const std::size_t grains = (count + grain - 1) / grain;
    const std::size_t worth = std::max<std::size_t>(count * floats / kFloatsPerThreadMin, 1);
    const int parts = static_cast<int>(std::min({static_cast<std::size_t>(threads_), worth, grains}));
    if (parts <= 1) return body(Range{0, count});
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int i = 0; i < parts; ++i) {
      const std::size_t begin = grains * i / parts * grain,
                        end = std::min(count, grains * (i + 1) / parts * grain);
      body(Range{begin, end});
    }
  }

  template <class Body>
  void each_head(const AttentionShape& shape, const Body& body) {
    const std::size_t floats = kernels::attention_scratch_floats(shape.sequence, shape.head_width);
    const std::size_t heads = shape.sequences * shape.heads;
    if (scratch_.size() < floats * threads_) scratch_.resize(floats * threads_);
#pragma omp parallel for num_threads(threads_) schedule(dynamic, 1) if (threads_ > 1)
    for (std::size_t i = 0; i < heads; ++i)
      body(i / shape.heads, i % shape.heads, scratch_.data() + floats * omp_get_thread_num());
  }

  static kernels::AttentionHead head_of(const AttentionShape& shape, std::size_t sequence, std::size_t head,
                                        const float* qkv, float* out, float* log_sum) {
    const std::size_t width = shape.heads * shape.head_width, row = sequence * shape.sequence;
    const float* query = qkv + row * 3 * width + head * shape.head_width;
    return {shape.sequence,
            shape.head_width,
            3 * width,
            width,
            query,
            query + width,
            query + 2 * width,
            out + row * width + head * shape.head_width,
            log_sum + (sequence * shape.heads + head) * shape.sequence};
  }

  int threads_;
  std::unique_ptr<Products> products_;
  std::vector<float> scratch_;
  std::vector<double> partial_sums_;
};

}  // namespace

std::unique_ptr<Device> make_cpu_device(int threads) { return std::make_unique<CpuDevice>(threads); }

}  // namespace strata::trainer
