// The whole model against PyTorch: same weights and batches, then loss, every gradient, and weights after
// AdamW.
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "tests/trainer/threads.hpp"
#include "trainer/checkpoint/safetensors.hpp"
#include "trainer/model/gpt.hpp"
#include "trainer/train/adamw.hpp"

using namespace strata::trainer;

namespace {

constexpr int kNoTorch = 77;
constexpr double kTolerance = 1e-4;

// Floats of a stored tensor, or an empty list.
std::vector<float> floats_of(const SafetensorsFile& file, const std::string& name) {
  const StoredTensor* tensor = file.find(name);
  REQUIRE(tensor);
  std::vector<float> values(tensor->count());
  std::memcpy(values.data(), tensor->bytes.data(), tensor->bytes.size());
  return values;
}
std::vector<std::int32_t> integers_of(const SafetensorsFile& file, const std::string& name) {
  const StoredTensor* tensor = file.find(name);
  REQUIRE(tensor);
  std::vector<std::int32_t> values(tensor->count());
  std::memcpy(values.data(), tensor->bytes.data(), tensor->bytes.size());
  return values;
}

double norm(const float* x, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return std::sqrt(sum);
}

// |mine - theirs| relative to |theirs|, both as vectors. `floor` is the size below which a tensor is noise:
// the key bias has no effect on the loss, so both sides hold rounding errors there.
void compare(const ParameterTable& table, const float* mine, const SafetensorsFile& file,
             const std::string& prefix, double floor) {
  for (const Tensor& tensor : table.tensors()) {
    const auto theirs = floats_of(file, prefix + tensor.name);
    REQUIRE(theirs.size() == tensor.count);
    std::vector<float> difference(tensor.count);
    for (std::size_t i = 0; i < tensor.count; ++i) difference[i] = mine[tensor.offset + i] - theirs[i];
    const double error = norm(difference.data(), tensor.count);
    INFO(prefix << tensor.name << ": error " << error << " of " << norm(theirs.data(), tensor.count));
    CHECK(error <= kTolerance * std::max(norm(theirs.data(), tensor.count), floor));
  }
}

struct Case {
  const char* arguments;
  ModelShape shape;
  std::size_t sequences;
};

void check_case(const Case& c, const std::string& path) {
  auto opened = SafetensorsFile::open(path);
  INFO(opened.status().message());
  REQUIRE(opened.ok());
  const SafetensorsFile& file = *opened;
  const auto device = make_cpu_device(threads_at_most(2));
  auto created = Gpt::create(c.shape, c.sequences, *device);
  REQUIRE(created.ok());
  Gpt& gpt = **created;
  for (const Tensor& tensor : gpt.table().tensors()) {
    const auto values = floats_of(file, "w." + tensor.name);
    REQUIRE(values.size() == tensor.count);
    std::copy(values.begin(), values.end(), gpt.weights() + tensor.offset);
  }
  auto optimizer = AdamW::create(gpt.table(), OptimizerOptions{}, *device);
  REQUIRE(optimizer.ok());
  const auto tokens = integers_of(file, "tokens"), targets = integers_of(file, "targets");
  const StoredTensor* losses = file.find("losses");
  REQUIRE(losses);
  const std::size_t rows = c.sequences * c.shape.sequence;
  for (std::size_t step = 0; step < losses->count(); ++step) {
    const Batch batch{tokens.data() + step * rows, targets.data() + step * rows, c.sequences,
                      c.shape.sequence};
    const double loss =
        gpt.forward_backward(batch, 1.0f / static_cast<float>(rows), nullptr) / static_cast<double>(rows);
    double theirs = 0;
    std::memcpy(&theirs, losses->bytes.data() + step * sizeof(double), sizeof(double));
    INFO("step " << step << ": loss " << loss << ", PyTorch's " << theirs);
    CHECK(std::abs(loss - theirs) <= kTolerance * theirs);
    if (step == 0)
      compare(gpt.table(), gpt.grads(), file, "g.", 1e-3 * norm(gpt.grads(), gpt.table().floats()));
    optimizer->begin_step(3e-3);
    optimizer->update(0, gpt.table().floats(), 1, gpt.weights(), gpt.grads());
  }
  // Adam turns the key bias's noise into steps of full size; so it may differ by them, and nothing else may.
  for (std::size_t layer = 0; layer < c.shape.layers; ++layer) {
    const Tensor& bias = gpt.table().at(layer, BlockTensor::qkv_bias);
    const auto values = floats_of(file, "a." + bias.name);
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(c.shape.width), c.shape.width,
                gpt.weights() + bias.offset + c.shape.width);
  }
  compare(gpt.table(), gpt.weights(), file, "a.", 0);
}

}  // namespace

TEST_CASE("loss, gradients and AdamW agree with PyTorch") {
  const Case cases[] = {
      {"--layers 2 --heads 3 --width 48 --sequence 21 --vocabulary 67 --sequences 3", {2, 3, 48, 21, 67}, 3},
      {"--layers 3 --heads 4 --width 128 --sequence 70 --vocabulary 256 --sequences 2",
       {3, 4, 128, 70, 256},
       2},
      {"--layers 1 --heads 1 --width 7 --sequence 2 --vocabulary 5 --sequences 1", {1, 1, 7, 2, 5}, 1},
      {"--layers 1 --heads 2 --width 34 --sequence 33 --vocabulary 300 --sequences 1",
       {1, 2, 34, 33, 300},
       1},
  };
  const auto path = std::filesystem::temp_directory_path() /
                    ("strata_torch_" + std::to_string(::getpid()) + ".safetensors");
  for (const Case& c : cases) {
    INFO(c.arguments);
    const std::string command =
        std::string("/usr/bin/python3 " STRATA_SOURCE_DIR "/tests/trainer/torch_reference.py ") +
        path.string() + " " + c.arguments;
    const int status = std::system(command.c_str());
    if (WIFEXITED(status) && WEXITSTATUS(status) == kNoTorch) {
      WARN("SKIPPED: PyTorch is not here; install Debian's python3-torch to run this test");
      return;
    }
    REQUIRE(status == 0);
    check_case(c, path.string());
  }
  std::filesystem::remove(path);
}
