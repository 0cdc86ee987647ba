// Each layer of the CPU device against double precision: forward by value, backward by finite differences.
// All instruction sets, one thread and three, sizes around those of vectors and blocks.
#include <catch2/catch.hpp>
#include <cmath>

#include "hwy/targets.h"
#include "tests/trainer/reference.hpp"
#include "tests/trainer/threads.hpp"
#include "trainer/device/device.hpp"

using namespace strata::trainer;
using namespace strata::trainer::reference;

namespace {

constexpr double kForward = 2e-6, kBackward = 1e-5;

// body(device) for every instruction set the machine has, and for several threads.
template <class Body>
void on_every_device(const Body& body) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    for (const int threads : {1, 3}) {
      INFO("instructions " << hwy::TargetName(target) << ", threads " << threads);
      body(*make_cpu_device(threads_at_most(threads)));
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

std::mt19937 seeded() {
  const unsigned seed = 20240611;
  UNSCOPED_INFO("seed " << seed);
  return std::mt19937(seed);
}

}  // namespace

TEST_CASE("layer norm") {
  on_every_device([](Device& device) {
    auto random = seeded();
    for (const std::size_t width : {2, 3, 15, 16, 33, 64}) {
      for (const std::size_t rows : {1, 5}) {
        CAPTURE(width, rows);
        const auto x = random_floats(rows * width, random, 2), weight = random_floats(width, random),
                   bias = random_floats(width, random), grad_out = random_floats(rows * width, random);
        FloatList out(rows * width), mean(rows), rstd(rows);
        device.layer_norm(rows, width, x.data(), weight.data(), bias.data(), {mean.data(), rstd.data()},
                          out.data());
        CHECK(relative_error(out, reference::layer_norm(widen(x), widen(weight), widen(bias), width)) <
              kForward);

        auto grad_x = random_floats(rows * width, random);  // what was there is added to
        auto expected_x = widen(grad_x);
        FloatList grad_weight(width, 1.0f), grad_bias(width, -2.0f);
        device.layer_norm_backward(rows, width, x.data(), weight.data(), {mean.data(), rstd.data()},
                                   grad_out.data(), grad_x.data(), grad_weight.data(), grad_bias.data());
        const auto loss = [&](const Doubles& vx, const Doubles& vw, const Doubles& vb) {
          return dot(reference::layer_norm(vx, vw, vb, width), widen(grad_out));
        };
        const auto slopes_x =
            gradient([&](const Doubles& v) { return loss(v, widen(weight), widen(bias)); }, widen(x));
        auto slopes_w =
            gradient([&](const Doubles& v) { return loss(widen(x), v, widen(bias)); }, widen(weight));
        auto slopes_b =
            gradient([&](const Doubles& v) { return loss(widen(x), widen(weight), v); }, widen(bias));
        for (std::size_t i = 0; i < slopes_x.size(); ++i) expected_x[i] += slopes_x[i];
        for (double& slope : slopes_w) slope += 1;
        for (double& slope : slopes_b) slope -= 2;
        CHECK(relative_error(grad_x, expected_x) < kBackward);
        CHECK(relative_error(grad_weight, slopes_w) < kBackward);
        CHECK(relative_error(grad_bias, slopes_b) < kBackward);
      }
    }
  });
}

TEST_CASE("GELU, from where it is nothing to where it is the identity") {
  on_every_device([](Device& device) {
    auto random = seeded();
    for (const std::size_t count : {1, 16, 37}) {
      auto x = random_floats(count, random, 2);
      x[0] = -60;
      x[count / 2] = 70;
      FloatList out(count), grad = random_floats(count, random);
      const auto grad_out = widen(grad);
      device.gelu(count, x.data(), out.data());
      CHECK(relative_error(out, reference::gelu(widen(x))) < kForward);
      device.gelu_backward(count, x.data(), grad.data());
      const auto slopes =
          gradient([&](const Doubles& v) { return dot(reference::gelu(v), grad_out); }, widen(x));
      CHECK(relative_error(grad, slopes) < kBackward);
    }
  });
}

TEST_CASE("causal attention") {
  const AttentionSize sizes[] = {{1, 1, 1, 1}, {2, 5, 2, 3}, {1, 33, 1, 8}, {1, 40, 2, 17}, {2, 65, 1, 4}};
  on_every_device([&](Device& device) {
    auto random = seeded();
    for (const AttentionSize& size : sizes) {
      CAPTURE(size.sequences, size.sequence, size.heads, size.head_width);
      const std::size_t rows = size.sequences * size.sequence, width = size.heads * size.head_width;
      const AttentionShape shape{size.sequences, size.sequence, size.heads, size.head_width};
      const auto qkv = random_floats(rows * 3 * width, random),
                 grad_out = random_floats(rows * width, random);
      FloatList out(rows * width), log_sum(rows * size.heads), grad_qkv(rows * 3 * width, NAN);
      device.attention(shape, qkv.data(), out.data(), log_sum.data());
      CHECK(relative_error(out, reference::attention(widen(qkv), size)) < kForward);
      device.attention_backward(shape, qkv.data(), out.data(), log_sum.data(), grad_out.data(),
                                grad_qkv.data());
      const auto slopes = gradient(
          [&](const Doubles& v) { return dot(reference::attention(v, size), widen(grad_out)); }, widen(qkv));
      CHECK(relative_error(grad_qkv, slopes) < kBackward);
    }
  });
}

TEST_CASE("attention with scores far apart stays finite") {
  const auto device = make_cpu_device(1);
  const AttentionShape shape{1, 3, 1, 2};
  const FloatList qkv = {300, 0, 300, 0, 1, 2, 300, 0, -300, 0, 3, 4, 300, 0, 300, 0, 5, 6};
  FloatList out(6), log_sum(3);
  device->attention(shape, qkv.data(), out.data(), log_sum.data());
  for (const float value : out) CHECK(std::isfinite(value));
  CHECK(out[2] == Approx(1));  // the second key's weight is exp(-10^5)
}

TEST_CASE("cross-entropy and its gradient in the place of the logits") {
  on_every_device([](Device& device) {
    auto random = seeded();
    for (const std::size_t vocabulary : {1, 2, 16, 67}) {
      const std::size_t rows = 4;
      const auto logits = random_floats(rows * vocabulary, random, 5);
      std::vector<std::int32_t> targets(rows);
      for (auto& target : targets) target = static_cast<std::int32_t>(random() % vocabulary);
      auto x = logits;
      FloatList losses(rows);
      const auto loss = [&](const Doubles& v) { return reference::cross_entropy(v, targets, vocabulary); };
      const double mine =
          device.cross_entropy(rows, vocabulary, targets.data(), 0.25f, x.data(), losses.data());
      CHECK(mine == Approx(loss(widen(logits))).epsilon(1e-6).margin(1e-6));
      auto slopes = gradient(loss, widen(logits));
      for (double& slope : slopes) slope *= 0.25;
      CHECK(relative_error(x, slopes) < kBackward);
    }
  });
}

TEST_CASE("embedding and its transpose") {
  on_every_device([](Device& device) {
    auto random = seeded();
    const std::size_t rows = 6, sequence = 3, width = 19, vocabulary = 4;
    const std::vector<std::int32_t> tokens = {0, 3, 3, 1, 3, 0};
    const auto table = random_floats(vocabulary * width, random),
               positions = random_floats(sequence * width, random),
               grad = random_floats(rows * width, random);
    FloatList out(rows * width), token_grad(vocabulary * width, 0), position_grad(sequence * width, 0);
    device.embed(rows, width, sequence, tokens.data(), table.data(), positions.data(), out.data());
    device.embed_backward(rows, width, sequence, tokens.data(), grad.data(), token_grad.data(),
                          position_grad.data());
    Doubles expected_tokens(token_grad.size(), 0), expected_positions(position_grad.size(), 0);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t i = 0; i < width; ++i) {
        const std::size_t token = static_cast<std::size_t>(tokens[row]) * width + i,
                          position = row % sequence * width + i;
        CHECK(out[row * width + i] == table[token] + positions[position]);
        expected_tokens[token] += static_cast<double>(grad[row * width + i]);
        expected_positions[position] += static_cast<double>(grad[row * width + i]);
      }
    }
    CHECK(relative_error(token_grad, expected_tokens) < kForward);
    CHECK(relative_error(position_grad, expected_positions) < kForward);
  });
}

TEST_CASE("products, plain and transposed, set and added") {
  auto random = seeded();
  const auto device = make_cpu_device(threads_at_most(2));
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      for (const bool accumulate : {false, true}) {
        CAPTURE(transpose_a, transpose_b, accumulate);
        const std::size_t rows = 7, columns = 21, depth = 10;
        const auto a = random_floats(rows * depth, random), b = random_floats(depth * columns, random);
        FloatList stored_a(a), stored_b(b);
        for (std::size_t i = 0; transpose_a && i < a.size(); ++i)
          stored_a[i % depth * rows + i / depth] = a[i];
        for (std::size_t i = 0; transpose_b && i < b.size(); ++i)
          stored_b[i % columns * depth + i / columns] = b[i];
        auto c = random_floats(rows * columns, random);
        auto expected = product(widen(a), widen(b), rows, columns, depth);
        for (std::size_t i = 0; accumulate && i < c.size(); ++i) expected[i] += static_cast<double>(c[i]);
        device->multiply({transpose_a, transpose_b, accumulate, rows, columns, depth}, stored_a.data(),
                         stored_b.data(), c.data());
        CHECK(relative_error(c, expected) < kForward);
      }
    }
  }
}

TEST_CASE("AdamW scales the gradient first, and leaves it zero") {
  on_every_device([](Device& device) {
    auto random = seeded();
    const std::size_t count = 37;
    const auto weights = random_floats(count, random), grads = random_floats(count, random);
    const auto stepped = [&](float grad_scale, float grad_factor) {
      FloatList w = weights, g = grads, mean(count, 0.25f), variance(count, 0.5f);
      for (float& value : g) value *= grad_factor;
      device.adamw(count, {0.1f, 0.9f, 0.95f, 1e-8f, 0.1f, 1.25f, 1.5f, grad_scale}, w.data(), g.data(),
                   mean.data(), variance.data());
      CHECK(g == FloatList(count, 0.0f));
      return w;
    };
    CHECK(stepped(0.5f, 1) == stepped(1, 0.5f));
    const auto mine = stepped(1, 1);
    for (std::size_t i = 0; i < count; ++i) {
      const double w = weights[i], g = grads[i], mean = 0.9 * 0.25 + 0.1 * g,
                   variance = 0.95 * 0.5 + 0.05 * g * g;
      CHECK(mine[i] ==
            Approx(w - 0.1 * 0.1 * w - 0.1 * 1.25 * mean / (std::sqrt(1.5 * variance) + 1e-8)).epsilon(1e-5));
    }
  });
}

TEST_CASE("column sums and norms do not depend on the number of threads") {
  auto random = seeded();
  const std::size_t rows = 301, width = 407;
  const auto x = random_floats(rows * width, random);
  Doubles expected(width, 0);
  double squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    expected[i % width] += static_cast<double>(x[i]);
    squares += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  }
  FloatList sums_of_one(width, 0);
  const auto one = make_cpu_device(1);
  one->add_column_sums(rows, width, x.data(), sums_of_one.data());
  CHECK(relative_error(sums_of_one, expected) < kForward);
  CHECK(one->sum_of_squares(x.size(), x.data()) == Approx(squares).epsilon(1e-6));
  for (const int threads : {2, 3, 5}) {
    const auto several = make_cpu_device(threads_at_most(threads));
    FloatList sums(width, 0);
    several->add_column_sums(rows, width, x.data(), sums.data());
    CHECK(sums == sums_of_one);
    CHECK(several->sum_of_squares(x.size(), x.data()) == one->sum_of_squares(x.size(), x.data()));
  }
}
