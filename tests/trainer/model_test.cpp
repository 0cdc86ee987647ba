// The model as a whole: gradients by finite differences of its own loss, and what its weights depend on.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>

#include "trainer/model/gpt.hpp"
#include "trainer/model/initialize.hpp"

using namespace strata::trainer;

namespace {

struct Fixture {
  ModelShape shape{2, 2, 16, 9, 256};
  std::unique_ptr<Device> device = make_cpu_device(1);
  std::unique_ptr<Gpt> gpt;
  std::vector<std::int32_t> tokens, targets;
  std::size_t sequences = 2;

  Fixture() {
    auto created = Gpt::create(shape, sequences, *device);
    REQUIRE(created.ok());
    gpt = std::move(created).value();
    initialize_weights(gpt->table(), 3, gpt->weights());
    std::mt19937 random(7);
    // Larger weights than the first ones, so that every part of the model matters.
    for (std::size_t i = 0; i < gpt->table().floats(); ++i) gpt->weights()[i] *= 5;
    for (std::size_t i = 0; i < sequences * shape.sequence; ++i) {
      tokens.push_back(static_cast<std::int32_t>(random() % shape.vocabulary));
      targets.push_back(static_cast<std::int32_t>(random() % shape.vocabulary));
    }
  }
  Batch batch() const { return {tokens.data(), targets.data(), sequences, shape.sequence}; }
};

// Listens to a pass and checks that "needed from here on" only shrinks, and then "finished up to here" only
// grows.
class Watch final : public PassListener {
 public:
  void weights_needed(std::size_t begin) override {
    CHECK(begin < first);
    CHECK(last == 0);
    first = begin;
  }
  void gradients_ready(std::size_t end) override {
    CHECK(end > last);
    last = end;
    calls++;
  }
  std::size_t first = SIZE_MAX, last = 0;
  int calls = 0;
};

}  // namespace

TEST_CASE("the gradient points along the loss") {
  // In float32 single differences drown in rounding; a step along the gradient of a whole tensor does not.
  Fixture f;
  const double loss = f.gpt->forward_backward(f.batch(), 1, nullptr);
  CHECK(f.gpt->loss(f.batch()) == Approx(loss).epsilon(1e-6));
  for (const Tensor& tensor : f.gpt->table().tensors()) {
    float *weights = f.gpt->weights() + tensor.offset, *grads = f.gpt->grads() + tensor.offset;
    double norm = 0;
    for (std::size_t i = 0; i < tensor.count; ++i)
      norm += static_cast<double>(grads[i]) * static_cast<double>(grads[i]);
    norm = std::sqrt(norm);
    if (norm < 1e-3) continue;  // nothing to measure
    const double step = 3e-3;
    const std::vector<float> before(weights, weights + tensor.count);
    const auto moved_loss = [&](double by) {
      for (std::size_t i = 0; i < tensor.count; ++i)
        weights[i] = before[i] + static_cast<float>(by / norm) * grads[i];
      return f.gpt->loss(f.batch());
    };
    const double slope = (moved_loss(step) - moved_loss(-step)) / (2 * step);
    moved_loss(0);
    INFO(tensor.name << ": slope " << slope << ", gradient's norm " << norm);
    CHECK(slope == Approx(norm).epsilon(0.02).margin(2e-3));
  }
}

TEST_CASE("gradients of two half batches add up to those of the whole") {
  Fixture f;
  const std::size_t count = f.gpt->table().floats();
  const double whole = f.gpt->forward_backward(f.batch(), 1, nullptr);
  const std::vector<float> grads(f.gpt->grads(), f.gpt->grads() + count);
  std::fill_n(f.gpt->grads(), count, 0.0f);
  double halves = 0;
  for (std::size_t i = 0; i < 2; ++i)
    halves += f.gpt->forward_backward({f.tokens.data() + i * f.shape.sequence,
                                       f.targets.data() + i * f.shape.sequence, 1, f.shape.sequence},
                                      1, nullptr);
  CHECK(halves == Approx(whole).epsilon(1e-6));
  for (std::size_t i = 0; i < count; ++i)
    REQUIRE(f.gpt->grads()[i] == Approx(grads[i]).epsilon(1e-3).margin(1e-4));
}

TEST_CASE("a pass reports its progress through the whole layout, there and back") {
  Fixture f;
  Watch watch;
  f.gpt->forward_backward(f.batch(), 1, &watch);
  const Tensor& last = f.gpt->table().tensors().back();
  CHECK(watch.first == 0);
  CHECK(watch.last == last.offset + last.count);
  CHECK(watch.calls == static_cast<int>(2 * f.shape.layers + 2));
}

TEST_CASE("what was reported as finished is not touched again") {
  class Snapshot final : public PassListener {
   public:
    explicit Snapshot(const float* g) : grads(g) {}
    void weights_needed(std::size_t) override {}
    void gradients_ready(std::size_t end) override {
      kept.insert(kept.end(), grads + kept.size(), grads + end);
    }
    const float* grads;
    std::vector<float> kept;
  };
  Fixture f;
  Snapshot snapshot(f.gpt->grads());
  f.gpt->forward_backward(f.batch(), 1, &snapshot);
  CHECK(std::memcmp(snapshot.kept.data(), f.gpt->grads(), snapshot.kept.size() * sizeof(float)) == 0);
}

TEST_CASE("no weight is read before it was asked for") {
  class Late final : public PassListener {
   public:
    explicit Late(Gpt& g) : gpt(g), kept(g.weights(), g.weights() + g.table().floats()) {
      std::fill_n(gpt.weights(), kept.size(), std::numeric_limits<float>::quiet_NaN());
    }
    void weights_needed(std::size_t begin) override {
      std::copy(kept.begin() + static_cast<std::ptrdiff_t>(begin), kept.end(), gpt.weights() + begin);
    }
    void gradients_ready(std::size_t) override {}
    Gpt& gpt;
    std::vector<float> kept;
  };
  Fixture f;
  const double loss = f.gpt->loss(f.batch());
  Late late(*f.gpt);
  CHECK(f.gpt->forward_backward(f.batch(), 1, &late) == Approx(loss).epsilon(1e-9));
}

TEST_CASE("the logits of the last token are those that the loss sees") {
  Fixture f;
  const std::size_t vocabulary = f.shape.vocabulary;
  const float* logits = f.gpt->next_logits(f.tokens.data(), 5);
  double total = 0;
  for (std::size_t i = 0; i < vocabulary; ++i) total += std::exp(static_cast<double>(logits[i]));
  const double last = std::log(total) - static_cast<double>(logits[f.targets[4]]);
  const double four = f.gpt->loss({f.tokens.data(), f.targets.data(), 1, 4});
  const double five = f.gpt->loss({f.tokens.data(), f.targets.data(), 1, 5});
  CHECK(five - four == Approx(last).epsilon(1e-4));
}

TEST_CASE("first weights depend on seed, name and index only") {
  const ParameterTable small({2, 2, 16, 9, 256}), deep({5, 4, 16, 9, 256});
  std::vector<float> a(small.floats()), b(small.floats()), c(deep.floats()), other(small.floats());
  initialize_weights(small, 1, a.data());
  initialize_weights(small, 1, b.data());
  initialize_weights(deep, 1, c.data());
  initialize_weights(small, 2, other.data());
  CHECK(a == b);
  CHECK(a != other);
  for (const Tensor& tensor : small.tensors()) {
    if (tensor.name.ends_with("c_proj.weight")) continue;  // their deviation depends on the depth
    INFO(tensor.name);
    CHECK(std::memcmp(a.data() + tensor.offset, c.data() + deep.find(tensor.name)->offset,
                      tensor.count * sizeof(float)) == 0);
  }
}

TEST_CASE("first weights have the mean and deviation of GPT-2's") {
  const ParameterTable table({4, 4, 128, 64, 256});
  std::vector<float> weights(table.floats());
  initialize_weights(table, 1, weights.data());
  for (const Tensor& tensor : table.tensors()) {
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < tensor.count; ++i) {
      const auto value = static_cast<double>(weights[tensor.offset + i]);
      sum += value;
      squares += value * value;
    }
    const double n = static_cast<double>(tensor.count);
    INFO(tensor.name);
    if (!tensor.is_matrix()) {
      CHECK(sum / n ==
            (tensor.name.find("ln_") != std::string::npos && tensor.name.ends_with("weight") ? 1 : 0));
      continue;
    }
    const double deviation = tensor.name.ends_with("c_proj.weight") ? 0.02 / std::sqrt(8.0) : 0.02;
    CHECK(std::abs(sum / n) < 5 * deviation / std::sqrt(n));
    CHECK(std::sqrt(squares / n) == Approx(deviation).epsilon(0.03));
  }
}

TEST_CASE("the layout covers every tensor once, on cache lines") {
  const ParameterTable table({3, 2, 10, 7, 256});
  std::size_t end = 0;
  for (const Tensor& tensor : table.tensors()) {
    CHECK(tensor.offset >= end);
    CHECK(tensor.offset % 16 == 0);
    end = tensor.offset + tensor.count;
  }
  CHECK(end <= table.floats());
  CHECK(table.at(1, BlockTensor::qkv_weight).name == "h.1.attn.c_attn.weight");
  CHECK(table.at(ModelTensor::tokens).name == "wte.weight");
  CHECK(table.find("h.3.ln_1.weight") == nullptr);
  // GPT-2's own count.
  CHECK(ParameterTable({12, 12, 768, 1024, 50257}).parameters() == 124'439'808);
}
