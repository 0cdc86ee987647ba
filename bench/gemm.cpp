// Speed of the products in a GPT step, as oneDNN and OpenBLAS compute them: `gemm [--threads N] [--csv]`.
// OpenBLAS chooses its kernels before main, by OPENBLAS_CORETYPE; so each arm is this program run again.
#include <cblas.h>
#include <dnnl.h>
#include <omp.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dnnl.hpp>
#include <functional>
#include <string>
#include <vector>

namespace {

// y[m, n] = x[m, k] w[k, n]; dx = dy w'; dw += x' dy.
struct Shape {
  const char* name;
  int m, n, k;
};
constexpr Shape kShapes[] = {
    {"quickstart qkv", 1024, 576, 192},    {"quickstart projection", 1024, 192, 192},
    {"quickstart up", 1024, 768, 192},     {"quickstart down", 1024, 192, 768},
    {"quickstart logits", 1024, 256, 192}, {"124M qkv", 256, 2304, 768},
    {"124M projection", 256, 768, 768},    {"124M up", 256, 3072, 768},
    {"124M down", 256, 768, 3072},         {"124M logits", 256, 50304, 768},
};
enum class Kind { forward, grad_input, grad_weight };
constexpr const char* kKindNames[] = {"y = x w", "dx = dy w'", "dw += x' dy"};
constexpr double kSecondsPerFigure = 0.15;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Median seconds of one call.
double median_seconds(const std::function<void()>& call) {
  call();
  std::vector<double> times;
  for (const double begin = seconds_now(); times.size() < 5 || seconds_now() - begin < kSecondsPerFigure;) {
    const double start = seconds_now();
    call();
    times.push_back(seconds_now() - start);
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

std::vector<float> values(std::size_t count) {
  std::vector<float> v(count);
  std::uint32_t state = 12345;
  for (float& x : v) {
    state = state * 1664525u + 1013904223u;
    x = static_cast<float>(static_cast<int>(state >> 9) % 2001 - 1000) * 1e-3f;
  }
  return v;
}

// The same product for every library: c[rows, columns] (+)= a b over `depth`, either side transposed.
struct Product {
  bool transpose_a, transpose_b, accumulate;
  int rows, columns, depth;
};
Product product_of(const Shape& s, Kind kind) {
  switch (kind) {
    case Kind::forward: return {false, false, false, s.m, s.n, s.k};
    case Kind::grad_input: return {false, true, false, s.m, s.k, s.n};
    default: return {true, false, true, s.k, s.n, s.m};
  }
}

double openblas_seconds(const Product& p, const float* a, const float* b, float* c) {
  return median_seconds([&] {
    cblas_sgemm(CblasRowMajor, p.transpose_a ? CblasTrans : CblasNoTrans,
                p.transpose_b ? CblasTrans : CblasNoTrans, p.rows, p.columns, p.depth, 1.0f, a,
                p.transpose_a ? p.rows : p.depth, b, p.transpose_b ? p.depth : p.columns,
                p.accumulate ? 1.0f : 0.0f, c, p.columns);
  });
}

double sgemm_seconds(const Product& p, const float* a, const float* b, float* c) {
  return median_seconds([&] {
    dnnl_sgemm(p.transpose_a ? 'T' : 'N', p.transpose_b ? 'T' : 'N', p.rows, p.columns, p.depth, 1.0f, a,
               p.transpose_a ? p.rows : p.depth, b, p.transpose_b ? p.depth : p.columns,
               p.accumulate ? 1.0f : 0.0f, c, p.columns);
  });
}

dnnl::memory::desc matrix(int rows, int columns, bool transposed) {
  const dnnl::memory::dims strides =
      transposed ? dnnl::memory::dims{1, rows} : dnnl::memory::dims{columns, 1};
  return {{rows, columns}, dnnl::memory::data_type::f32, strides};
}

// Packed: b is reordered once into the layout the library likes (the cost of that is `pack`).
struct MatmulTime {
  double run, pack;
};
MatmulTime matmul_seconds(const Product& p, bool packed, float* a, float* b, float* c) {
  using namespace dnnl;
  static engine cpu(engine::kind::cpu, 0);
  static stream order(cpu);
  primitive_attr attributes;
  post_ops operations;
  if (p.accumulate) operations.append_sum(1.0f);
  attributes.set_post_ops(operations);
  const auto plain_b = matrix(p.depth, p.columns, p.transpose_b);
  const memory::desc any_b({p.depth, p.columns}, memory::data_type::f32, memory::format_tag::any);
  const matmul::desc description(matrix(p.rows, p.depth, p.transpose_a), packed ? any_b : plain_b,
                                 matrix(p.rows, p.columns, false));
  const matmul::primitive_desc chosen(description, attributes, cpu);
  memory source(chosen.src_desc(), cpu, a), target(chosen.dst_desc(), cpu, c), given(plain_b, cpu, b);
  memory weights = packed ? memory(chosen.weights_desc(), cpu) : given;
  const reorder pack(given, weights);
  const matmul primitive(chosen);
  MatmulTime time{};
  if (packed)
    time.pack = median_seconds([&] {
      pack.execute(order, given, weights);
      order.wait();
    });
  time.run = median_seconds([&] {
    primitive.execute(order, {{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, target}});
    order.wait();
  });
  return time;
}

void measure(const std::string& arm, bool csv) {
  for (const Shape& s : kShapes) {
    auto a = values(static_cast<std::size_t>(s.m) * std::max(s.k, s.n));
    auto b = values(static_cast<std::size_t>(std::max(s.k, s.m)) * s.n);
    std::vector<float> c(static_cast<std::size_t>(std::max(s.m, s.k)) * std::max(s.n, s.k));
    for (const Kind kind : {Kind::forward, Kind::grad_input, Kind::grad_weight}) {
      const Product p = product_of(s, kind);
      const double gflop = 2e-9 * p.rows * p.columns * p.depth;
      const auto print = [&](const char* name, double seconds, double pack) {
        std::printf(csv ? "%s,%s,%s,%.1f,%.1f\n" : "%-20s %-22s %-12s %7.1f %7.1f\n", name, s.name,
                    kKindNames[static_cast<int>(kind)], gflop / seconds, gflop / (seconds + pack));
      };
      if (arm != "onednn") {
        print(arm.c_str(), openblas_seconds(p, a.data(), b.data(), c.data()), 0);
        continue;
      }
      print("oneDNN sgemm", sgemm_seconds(p, a.data(), b.data(), c.data()), 0);
      print("oneDNN matmul", matmul_seconds(p, false, a.data(), b.data(), c.data()).run, 0);
      const MatmulTime packed = matmul_seconds(p, true, a.data(), b.data(), c.data());
      print("oneDNN packed", packed.run, packed.pack);
    }
  }
}

int run_arm(const char* arm, const char* core_type, int threads, bool csv) {
  if (core_type) setenv("OPENBLAS_CORETYPE", core_type, 1);
  const std::string count = std::to_string(threads);
  setenv("OMP_NUM_THREADS", count.c_str(), 1);
  setenv("OPENBLAS_NUM_THREADS", count.c_str(), 1);
  std::vector<const char*> arguments{"gemm", "--arm", arm, csv ? "--csv" : nullptr, nullptr};
  pid_t child = 0;
  if (posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, const_cast<char**>(arguments.data()),
                  environ) != 0) {
    std::perror("gemm: cannot run itself");
    return 1;
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("GFLOP/s of the products in a GPT step: oneDNN and OpenBLAS, float32");
  int threads = 1;
  bool csv = false;
  std::string arm;
  app.add_option("--threads", threads, "threads of each library")->check(CLI::Range(1, 1024));
  app.add_flag("--csv", csv, "comma-separated lines");
  app.add_option("--arm", arm, "measure one arm in this process")->group("");
  CLI11_PARSE(app, argc, argv);
  if (!arm.empty()) return measure(arm, csv), 0;
  std::printf(csv ? "%s,%s,%s,%s,%s\n" : "%-20s %-22s %-12s %7s %7s\n", "library", "shape", "product",
              "GFLOP/s", "+pack");
  std::fflush(stdout);
  if (const int failed = run_arm("onednn", nullptr, threads, csv)) return failed;
  if (const int failed = run_arm("OpenBLAS", nullptr, threads, csv)) return failed;
  return run_arm("OpenBLAS SkylakeX", "SkylakeX", threads, csv);
}
