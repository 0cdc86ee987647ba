// The printed table: nccl-tests' header, columns and footer, with percentiles at the end of each row.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tools/strata_perf/measure.hpp"

namespace strata::perf {

// One rank, as "Using devices" shows it.
struct RankInfo {
  std::string host;
  int pid = 0;
};

// What the run came to.
struct Summary {
  std::uint64_t wrong = 0;
  double bus_gbs_sum = 0;
  std::uint64_t figures = 0;  // how many bandwidths were summed

  void add(const Row& row);
  double mean_bus_gbs() const { return figures ? bus_gbs_sum / static_cast<double>(figures) : 0; }
};

// Each ends with a newline.
std::string header_text(const Options& options, const std::vector<RankInfo>& ranks);
std::string column_header_text(const TestCase& test, bool percentiles);
std::string row_text(const Row& row, bool percentiles);
std::string footer_text(const Summary& summary);

// A row as CSV, and the names of its fields. Empty fields: not measured.
std::string csv_header();
std::string csv_row(const Row& row);

// The whole run as JSON.
std::string json_text(const Options& options, const std::vector<RankInfo>& ranks,
                      const std::vector<Row>& rows, const Summary& summary);

}  // namespace strata::perf
