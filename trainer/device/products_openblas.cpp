// Products by any BLAS with the C interface: for builds without oneDNN.
#include <cblas.h>

#include "trainer/device/products.hpp"

namespace strata::trainer {
namespace {

class BlasProducts final : public Products {
 public:
  void multiply(const Product& p, const float* a, const float* b, float* c) override {
    if (p.rows == 0 || p.columns == 0) return;
    const auto rows = static_cast<int>(p.rows), columns = static_cast<int>(p.columns),
               depth = static_cast<int>(p.depth);
    cblas_sgemm(CblasRowMajor, p.transpose_a ? CblasTrans : CblasNoTrans,
                p.transpose_b ? CblasTrans : CblasNoTrans, rows, columns, depth, 1.0f, a,
                p.transpose_a ? rows : depth, b, p.transpose_b ? depth : columns, p.accumulate ? 1.0f : 0.0f,
                c, columns);
  }
};

}  // namespace

std::unique_ptr<Products> make_products() { return std::make_unique<BlasProducts>(); }
const char* products_library() { return "BLAS"; }

}  // namespace strata::trainer
