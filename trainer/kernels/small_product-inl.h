// Products of matrices that fit the cache, for one thread: c (+)= a b with b's and c's rows contiguous and a
// read through two strides, so that a transposed a costs nothing. Register tiles of kRows x two vectors.
#if defined(STRATA_TRAINER_SMALL_PRODUCT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STRATA_TRAINER_SMALL_PRODUCT_INL
#undef STRATA_TRAINER_SMALL_PRODUCT_INL
#else
#define STRATA_TRAINER_SMALL_PRODUCT_INL
#endif
#include "trainer/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strata::trainer::kernels::HWY_NAMESPACE {

struct LeftMatrix {
  const float* data;
  std::size_t row_stride, column_stride;
};
struct RightMatrix {
  const float* data;
  std::size_t row_stride;
};
struct ResultMatrix {
  float* data;
  std::size_t row_stride;
};
struct Extent {
  std::size_t rows, columns, depth;
};

template <int kRows, class First, class Second>
HWY_INLINE void multiply_tile(const LeftMatrix& a, const RightMatrix& b, const ResultMatrix& c,
                              std::size_t depth, bool accumulate, First first, Second second) {
  const std::size_t step = lanes();
  Floats left[kRows], right[kRows];
  for (int r = 0; r < kRows; ++r) {
    const float* row = c.data + static_cast<std::size_t>(r) * c.row_stride;
    left[r] = accumulate ? first.load(row) : splat(0);
    right[r] = accumulate ? second.load(row + step) : splat(0);
  }
  const float* from = b.data;
  const float* factor = a.data;
  for (std::size_t p = 0; p < depth; ++p, from += b.row_stride, factor += a.column_stride) {
    const Floats b0 = first.load(from), b1 = second.load(from + step);
    for (int r = 0; r < kRows; ++r) {
      const Floats x = splat(factor[static_cast<std::size_t>(r) * a.row_stride]);
      left[r] = hn::MulAdd(x, b0, left[r]);
      right[r] = hn::MulAdd(x, b1, right[r]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    float* row = c.data + static_cast<std::size_t>(r) * c.row_stride;
    first.store(left[r], row);
    second.store(right[r], row + step);
  }
}

template <int kRows>
HWY_INLINE void multiply_rows(LeftMatrix a, RightMatrix b, ResultMatrix c, Extent extent, bool accumulate) {
  const std::size_t step = lanes();
  std::size_t left = extent.columns;
  for (; left >= 2 * step; left -= 2 * step, b.data += 2 * step, c.data += 2 * step)
    multiply_tile<kRows>(a, b, c, extent.depth, accumulate, FullVector{}, FullVector{});
  if (left == 0) return;
  const PartVector first(left < step ? left : step), second(left > step ? left - step : 0);
  multiply_tile<kRows>(a, b, c, extent.depth, accumulate, first, second);
}

HWY_INLINE void small_product(LeftMatrix a, RightMatrix b, ResultMatrix c, Extent extent, bool accumulate) {
  constexpr int kRows = HWY_TARGET <= HWY_AVX3 ? 8 : 4;  // as many as the registers hold
  std::size_t row = 0;
  for (; row + kRows <= extent.rows; row += kRows) {
    multiply_rows<kRows>(a, b, c, extent, accumulate);
    a.data += kRows * a.row_stride;
    c.data += kRows * c.row_stride;
  }
  for (; row < extent.rows; ++row, a.data += a.row_stride, c.data += c.row_stride)
    multiply_rows<1>(a, b, c, extent, accumulate);
}

// to[column][row] = from[row][column].
HWY_INLINE void transpose(const float* from, std::size_t from_stride, std::size_t rows, std::size_t columns,
                          float* to, std::size_t to_stride) {
  constexpr std::size_t kBlock = 16;
  for (std::size_t row0 = 0; row0 < rows; row0 += kBlock) {
    const std::size_t row1 = row0 + kBlock < rows ? row0 + kBlock : rows;
    for (std::size_t column = 0; column < columns; ++column)
      for (std::size_t row = row0; row < row1; ++row)
        to[column * to_stride + row] = from[row * from_stride + column];
  }
}

}  // namespace strata::trainer::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
