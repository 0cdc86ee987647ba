// What a run shows: progress, curve, metrics, and the choice of a next token.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "trainer/report/curve.hpp"
#include "trainer/report/history.hpp"
#include "trainer/report/metrics.hpp"
#include "trainer/report/progress.hpp"
#include "trainer/sample/generate.hpp"

using namespace strata::trainer;
using Catch::Contains;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// What `body` prints to a file handle.
template <class Body>
std::string printed(const Body& body) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* out = open_memstream(&text, &size);
  body(out);
  std::fclose(out);
  std::string result(text, size);
  std::free(text);
  return result;
}

}  // namespace

TEST_CASE("durations and counts") {
  CHECK(format_duration(0) == "0:00");
  CHECK(format_duration(65.4) == "1:05");
  CHECK(format_duration(3600 + 125) == "1:02:05");
  CHECK(format_count(950) == "950");
  CHECK(format_count(12'345) == "12.3 k");
  CHECK(format_count(1'853'568) == "1.85 M");
}

TEST_CASE("without a terminal there is a line every so many steps, and the first and last") {
  const auto text = printed([](std::FILE* out) {
    Progress progress({10, 1000, 4, false, out});
    for (std::int64_t step = 0; step < 10; ++step) progress.step({step, 2.5, 1, 1e-3, 0.5, 0.002, false});
    progress.finish();
  });
  const auto lines = lines_of(text);
  REQUIRE(lines.size() == 4);  // 1, 4, 8, 10
  CHECK_THAT(lines[0], Contains("step  1/10") && Contains("loss 2.5000") && Contains("lr 1.00e-03") &&
                           Contains("norm 1.00") && Contains("2 k tokens/s") && Contains("wait 2.0 ms") &&
                           Contains("ETA 0:0"));
  CHECK_THAT(lines[3], Contains("step 10/10") && Contains("ETA 0:00"));
  CHECK(text.find('\r') == std::string::npos);
}

TEST_CASE("on a terminal the line is rewritten, and notes stand above it") {
  const auto text = printed([](std::FILE* out) {
    Progress progress({2, 1000, 4, true, out});
    progress.step({0, 2.5, 1, 1e-3, 0.5, 0, false});
    progress.note("a note");
    progress.step({1, 2.25, 1, 1e-3, 0.5, 0, false});
    progress.finish();
  });
  CHECK_THAT(text, Contains("\r\033[Ka note\nstep 1/2") && Contains("2.2500"));
  CHECK(text.back() == '\n');
}

TEST_CASE("the curve falls where the loss falls, and its axes say what they are") {
  std::vector<CurvePoint> train, validation;
  for (int step = 1; step <= 300; ++step)
    train.push_back({static_cast<double>(step), 1 + 4 * std::exp(-step / 50.0)});
  for (int step = 0; step <= 300; step += 100)
    validation.push_back({static_cast<double>(step), 1.2 + 4 * std::exp(-step / 50.0)});
  const auto lines = lines_of(draw_curve(train, validation, {60, 12, false}));
  REQUIRE(lines.size() == 15);
  CHECK_THAT(lines[0], Contains("loss") && Contains("training") && Contains("validation"));
  CHECK_THAT(lines[1], Contains("5.20"));  // the highest
  CHECK_THAT(lines[12], Contains("1.01"));
  CHECK_THAT(lines[14], Contains("0") && Contains("step") && Contains("300"));
  std::size_t before = 0;
  for (std::size_t row = 1; row <= 12; ++row) {
    const std::size_t at = lines[row].find('.', 9);
    if (at == std::string::npos) continue;
    CHECK(at >= before);
    before = at;
  }
  for (const auto& line : lines)
    for (const char c : line) CHECK((c >= ' ' && c <= '~'));
}

TEST_CASE("curves of one point, of equal points, of none and of no numbers") {
  CHECK(draw_curve({}, {}, {}).empty());
  CHECK(draw_curve({{1, NAN}, {2, INFINITY}}, {}, {}).empty());
  CHECK(lines_of(draw_curve({{1, 2}}, {}, {})).size() == 19);
  CHECK(lines_of(draw_curve({{1, 2}, {2, 2}}, {{2, 2}}, {})).size() == 19);
}

TEST_CASE("a history of any length keeps its mean, its ends and its limit") {
  for (const std::size_t count : {1u, 10u, 4096u, 4097u, 5000u, 100'000u}) {
    CAPTURE(count);
    LossHistory history;
    for (std::size_t i = 1; i <= count; ++i) history.add(static_cast<double>(i), static_cast<double>(i));
    CHECK(history.added() == count);
    REQUIRE(history.points().size() <= LossHistory::kPointsMax);
    CHECK(history.points().size() >= std::min<std::size_t>(count, LossHistory::kPointsMax / 2));
    CHECK(history.points().back().step == static_cast<double>(count));
    double before = 0;
    for (const CurvePoint& p : history.points()) {
      CHECK(p.loss == Approx((before + 1 + p.step) / 2));  // the mean of the steps since the point before
      before = p.step;
    }
  }
}

TEST_CASE("metrics are one JSON object a line, and a full disk ends them, not the run") {
  const auto path = (std::filesystem::temp_directory_path() / "strata_metrics_test.jsonl").string();
  {
    auto metrics = Metrics::open(path);
    REQUIRE(metrics.ok());
    metrics->validation(0, 5.5);
    metrics->step({0, 2.5, 1, 1e-3, 0.5, 0.002, false}, 2000);
    CHECK(metrics->status().ok());
  }
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  CHECK(line == R"({"step": 0, "validation_loss": 5.5})");
  std::getline(file, line);
  CHECK(
      line ==
      R"({"step": 1, "loss": 2.5, "learning_rate": 0.001, "grad_norm": 1, "seconds": 0.5, "exposed_ms": 2, "tokens_per_second": 2000})");
  std::filesystem::remove(path);
  CHECK_THAT(std::string(Metrics::open("/no/such/dir/m").status().message()), Contains("/no/such/dir/m"));
  if (std::filesystem::exists("/dev/full")) {
    auto full = Metrics::open("/dev/full");
    REQUIRE(full.ok());
    full->validation(0, 1);
    CHECK_THAT(std::string(full->status().message()), Contains("/dev/full") && Contains("No space left"));
    full->validation(1, 1);
  }
}

TEST_CASE("the next token follows temperature and top-k") {
  const float logits[] = {0, 2, 1, -5};
  SampleOptions options;
  options.temperature = 0;
  CHECK(pick(logits, 4, options, 0.99) == 1);
  options.temperature = 1;
  options.top_k = 1;
  CHECK(pick(logits, 4, options, 0.99) == 1);
  options.top_k = 2;
  CHECK(pick(logits, 4, options, 0.01) == 1);
  CHECK(pick(logits, 4, options, 0.99) == 2);
  options.top_k = 0;
  CHECK(pick(logits, 4, options, 0.99999) == 3);
  int counts[4] = {};
  for (int i = 0; i < 10'000; ++i) counts[pick(logits, 4, options, (i + 0.5) / 10'000)]++;
  const double total = 1 + std::exp(2.0) + std::exp(1.0) + std::exp(-5.0);
  CHECK(counts[1] == Approx(10'000 * std::exp(2.0) / total).margin(2));
  CHECK(counts[0] == Approx(10'000 / total).margin(2));
}
