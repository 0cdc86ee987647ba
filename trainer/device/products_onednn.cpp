// Products by oneDNN. Its sgemm is the fastest for y = x w and dw += x' dy and needs no state; for dx = dy w'
// its matmul is up to 1.6 times faster over several threads, so those primitives are made once a shape and
// kept.
#include <dnnl.hpp>
#include <map>

#include "trainer/base/check.hpp"
#include "trainer/device/products.hpp"

namespace strata::trainer {
namespace {

dnnl::memory::desc matrix(std::int64_t rows, std::int64_t columns, bool transposed) {
  const dnnl::memory::dims strides =
      transposed ? dnnl::memory::dims{1, rows} : dnnl::memory::dims{columns, 1};
  return {{rows, columns}, dnnl::memory::data_type::f32, strides};
}

// A primitive with its three memory objects, whose pointers are set for each call: no allocation then.
struct Matmul {
  dnnl::matmul primitive;
  dnnl::memory a, b, c;
};

class OneDnnProducts final : public Products {
 public:
  OneDnnProducts() : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {}

  void multiply(const Product& p, const float* a, const float* b, float* c) override {
    if (p.rows == 0 || p.columns == 0) return;
    if (p.transpose_b && !p.accumulate) return run(matmul(p), a, b, c);
    const auto status =
        dnnl_sgemm(p.transpose_a ? 'T' : 'N', p.transpose_b ? 'T' : 'N', p.rows, p.columns, p.depth, 1.0f, a,
                   p.transpose_a ? p.rows : p.depth, b, p.transpose_b ? p.depth : p.columns,
                   p.accumulate ? 1.0f : 0.0f, c, p.columns);
    STRATA_TRAINER_CHECK(status == dnnl_success);
  }

 private:
  Matmul& matmul(const Product& p) {
    const auto found = matmuls_.find(p);
    if (found != matmuls_.end()) return found->second;
    using dnnl::memory;
    const dnnl::matmul::primitive_desc chosen(
        dnnl::matmul::desc(matrix(p.rows, p.depth, p.transpose_a), matrix(p.depth, p.columns, p.transpose_b),
                           matrix(p.rows, p.columns, false)),
        engine_);
    void* const unset = nullptr;
    return matmuls_
        .emplace(p, Matmul{dnnl::matmul(chosen), memory(chosen.src_desc(), engine_, unset),
                           memory(chosen.weights_desc(), engine_, unset),
                           memory(chosen.dst_desc(), engine_, unset)})
        .first->second;
  }

  void run(Matmul& matmul, const float* a, const float* b, float* c) {
    matmul.a.set_data_handle(const_cast<float*>(a));
    matmul.b.set_data_handle(const_cast<float*>(b));
    matmul.c.set_data_handle(c);
    const dnnl_exec_arg_t arguments[] = {
        {DNNL_ARG_SRC, matmul.a.get()}, {DNNL_ARG_WEIGHTS, matmul.b.get()}, {DNNL_ARG_DST, matmul.c.get()}};
    const auto status = dnnl_primitive_execute(matmul.primitive.get(), stream_.get(), 3, arguments);
    STRATA_TRAINER_CHECK(status == dnnl_success);
    stream_.wait();
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
  std::map<Product, Matmul> matmuls_;
};

}  // namespace

std::unique_ptr<Products> make_products() { return std::make_unique<OneDnnProducts>(); }
const char* products_library() { return "oneDNN"; }

}  // namespace strata::trainer
