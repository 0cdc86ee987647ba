// The table: scripts written for nccl-tests must find their columns.
#include "tools/strata_perf/report.hpp"

#include <catch2/catch.hpp>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tools/strata_perf/statistics.hpp"

namespace strata::perf {
namespace {

Row example_row() {
  Row row;
  row.what = {find_test_case("all_reduce"), DataType::float32, ReduceOp::sum, 0, 1 << 20};
  row.shown_bytes = 1 << 20;
  row.count = 1 << 18;
  row.out_of_place = {123.456, 120, 150, 8.49, 12.74, 0, 110, 20, 1};
  row.in_place = Figures{12345.6, 12000, 15000, 0.08, 0.13, 3, 11000, 20, 1};
  return row;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  for (char c : line.substr(0, line.find('\n'))) {
    if (c == ',')
      fields.emplace_back();
    else
      fields.back().push_back(c);
  }
  return fields;
}

}  // namespace

TEST_CASE("a row has nccl-tests' thirteen columns, then the percentiles") {
  const std::vector<std::string> plain = {"1048576", "262144", "float", "sum",  "-1",   "123.5", "8.49",
                                          "12.74",   "0",      "12346", "0.08", "0.13", "3"};
  CHECK(words_of(row_text(example_row(), false)) == plain);
  std::vector<std::string> with = plain;
  with.insert(with.end(), {"120.0", "150.0", "12000", "15000"});
  CHECK(words_of(row_text(example_row(), true)) == with);
}

TEST_CASE("what was not measured is N/A and keeps its columns") {
  Row row = example_row();
  row.what.test = find_test_case("barrier");
  row.in_place.reset();
  row.out_of_place.wrong.reset();
  const std::vector<std::string> words = words_of(row_text(row, true));
  REQUIRE(words.size() == 17);
  CHECK((words[3] == "none" && words[4] == "-1" && words[8] == "N/A" && words[12] == "N/A" &&
         words[16] == "N/A"));
  CHECK(fields_of(csv_row(row)).size() == fields_of(csv_header()).size());
}

TEST_CASE("titles stand over their columns") {
  std::istringstream header(column_header_text(*find_test_case("all_reduce"), true));
  const std::string row = row_text(example_row(), true);
  for (std::string line; std::getline(header, line);) {
    CHECK(line[0] == '#');
    if (line.find("time") == std::string::npos) continue;
    CHECK(line.size() + 1 == row.size());
    CHECK(line.find("time") + 4 == row.find("123.5") + 5);
    CHECK(line.rfind("p99") + 3 == row.rfind("15000") + 5);
  }
}

TEST_CASE("the footer sums wrong elements and averages bandwidths") {
  Summary summary;
  summary.add(example_row());
  CHECK(footer_text(summary) == "# Out of bounds values : 3 FAILED\n# Avg bus bandwidth    : 6.435\n#\n");
  CHECK(footer_text({}).find(" 0 OK\n") != std::string::npos);
}

TEST_CASE("CSV and JSON hold the row") {
  const std::vector<std::string> names = fields_of(csv_header()), values = fields_of(csv_row(example_row()));
  REQUIRE(names.size() == values.size());
  CHECK((names[6] == "out_of_place_time_us" && values[6] == "123.456"));
  CHECK((names[21] == "in_place_min_us" && values[21] == "11000"));
  CHECK((names.back() == "in_place_calls" && values.back() == "1"));
  Summary summary;
  summary.add(example_row());
  const auto json = nlohmann::json::parse(json_text({}, {{"host", 7}}, {example_row()}, summary));
  CHECK(json["rows"][0]["in_place"]["wrong"] == 3);
  CHECK(json["rows"][0]["in_place"]["samples"] == 20);
  CHECK(json["rows"][0]["collective"] == "all_reduce");
  CHECK(json["ranks"][0]["pid"] == 7);
  CHECK(json["out_of_bounds_values"] == 3);
}

TEST_CASE("percentiles and averages over ranks") {
  std::vector<double> hundred(100);
  for (std::size_t i = 0; i < 100; ++i) hundred[(i * 37) % 100] = static_cast<double>(i + 1);
  CHECK(percentile(hundred, 50) == 50);
  CHECK(percentile(hundred, 99) == 99);
  CHECK(percentile({4.0}, 99) == 4.0);
  const std::vector<double> two_ranks = {1, 5, 3, 2};  // rank 0: 1 5; rank 1: 3 2
  CHECK(over_ranks(two_ranks, 2, Average::rank0) == std::vector<double>{1, 5});
  CHECK(over_ranks(two_ranks, 2, Average::mean) == std::vector<double>{2, 3.5});
  CHECK(over_ranks(two_ranks, 2, Average::min) == std::vector<double>{1, 2});
  CHECK(over_ranks(two_ranks, 2, Average::max) == std::vector<double>{3, 5});
}

}  // namespace strata::perf
