// Matrix products on the CPU by the library the build found; bench/gemm measures the candidates.
#pragma once
#include <memory>

#include "trainer/device/device.hpp"

namespace strata::trainer {

class Products {
 public:
  virtual ~Products() = default;
  virtual void multiply(const Product& product, const float* a, const float* b, float* c) = 0;
};

std::unique_ptr<Products> make_products();
const char* products_library();

}  // namespace strata::trainer
