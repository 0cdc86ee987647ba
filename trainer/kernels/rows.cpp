// Sums and copies over rows: biases, residuals, column sums, embeddings.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "trainer/kernels/rows.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which says for what each pass compiles.
#include "trainer/kernels/kernels.hpp"
#include "trainer/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strata::trainer::kernels::HWY_NAMESPACE {

void add_into(Range range, const float* from, float* into) {
  for_vectors(range.begin, range.end, [&](auto vector, std::size_t i) HWY_ATTR {
    vector.store(hn::Add(vector.load(into + i), vector.load(from + i)), into + i);
  });
}

void fill_rows(Range rows, std::size_t width, const float* bias, const float* residual, float* out) {
  for (std::size_t row = rows.begin; row < rows.end; ++row) {
    float* to = out + row * width;
    if (residual) {
      const float* from = residual + row * width;
      for_vectors(0, width, [&](auto vector, std::size_t i) HWY_ATTR {
        vector.store(hn::Add(vector.load(bias + i), vector.load(from + i)), to + i);
      });
    } else {
      for_vectors(0, width,
                  [&](auto vector, std::size_t i) HWY_ATTR { vector.store(vector.load(bias + i), to + i); });
    }
  }
}

void column_sums(Range columns, std::size_t rows, std::size_t width, const float* in, float* sums) {
  for_vectors(columns.begin, columns.end, [&](auto vector, std::size_t i) HWY_ATTR {
    // Four chains, since one addition waits for the one before.
    Floats a = vector.load(sums + i), b = splat(0), c = b, d = b;
    std::size_t row = 0;
    const float* p = in + i;
    for (; row + 4 <= rows; row += 4, p += 4 * width) {
      a = hn::Add(a, vector.load(p));
      b = hn::Add(b, vector.load(p + width));
      c = hn::Add(c, vector.load(p + 2 * width));
      d = hn::Add(d, vector.load(p + 3 * width));
    }
    for (; row < rows; ++row, p += width) a = hn::Add(a, vector.load(p));
    vector.store(hn::Add(hn::Add(a, b), hn::Add(c, d)), sums + i);
  });
}

void embed(Range rows, std::size_t width, std::size_t sequence, const std::int32_t* tokens,
           const float* token_table, const float* position_table, float* out) {
  for (std::size_t row = rows.begin; row < rows.end; ++row) {
    const float* token = token_table + static_cast<std::size_t>(tokens[row]) * width;
    fill_rows({0, 1}, width, token, position_table + row % sequence * width, out + row * width);
  }
}

void embed_backward(Range columns, std::size_t rows, std::size_t width, std::size_t sequence,
                    const std::int32_t* tokens, const float* grad, float* token_grad, float* position_grad) {
  for (std::size_t row = 0; row < rows; ++row) {
    add_into(columns, grad + row * width, token_grad + static_cast<std::size_t>(tokens[row]) * width);
    add_into(columns, grad + row * width, position_grad + row % sequence * width);
  }
}

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace strata::trainer::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace strata::trainer::kernels {
HWY_EXPORT(fill_rows);
HWY_EXPORT(column_sums);
HWY_EXPORT(embed);
HWY_EXPORT(embed_backward);
HWY_EXPORT(target_name);

void fill_rows(Range rows, std::size_t width, const float* bias, const float* residual, float* out) {
  HWY_DYNAMIC_DISPATCH(fill_rows)(rows, width, bias, residual, out);
}
void column_sums(Range columns, std::size_t rows, std::size_t width, const float* in, float* sums) {
  HWY_DYNAMIC_DISPATCH(column_sums)(columns, rows, width, in, sums);
}
void embed(Range rows, std::size_t width, std::size_t sequence, const std::int32_t* tokens,
           const float* token_table, const float* position_table, float* out) {
  HWY_DYNAMIC_DISPATCH(embed)(rows, width, sequence, tokens, token_table, position_table, out);
}
void embed_backward(Range columns, std::size_t rows, std::size_t width, std::size_t sequence,
                    const std::int32_t* tokens, const float* grad, float* token_grad, float* position_grad) {
  HWY_DYNAMIC_DISPATCH(embed_backward)
  (columns, rows, width, sequence, tokens, grad, token_grad, position_grad);
}
const char* vector_target() { return HWY_DYNAMIC_DISPATCH(target_name)(); }
}  // namespace strata::trainer::kernels
#endif
