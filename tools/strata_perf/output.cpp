#include "tools/strata_perf/output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace strata::perf {
namespace {

Status open_file(std::ofstream& file, const std::string& flag, const std::string& path) {
  if (path.empty()) return {};
  errno = 0;
  file.open(path);
  if (file) return {};
  return {ErrorCode::unavailable, flag + " " + path + ": " + std::strerror(errno)};
}

}  // namespace

Status Output::open(const Options& options, std::vector<RankInfo> ranks) {
  options_ = options;
  ranks_ = std::move(ranks);
  if (Status status = open_file(csv_, "--csv", options.csv_path); !status.ok()) return status;
  if (Status status = open_file(json_, "--json", options.json_path); !status.ok()) return status;
  if (csv_.is_open()) csv_ << csv_header() << std::flush;
  print(header_text(options_, ranks_));
  return {};
}

void Output::begin(const TestCase& test) { print(column_header_text(test, options_.percentiles)); }

void Output::add(const Row& row) {
  summary_.add(row);
  print(row_text(row, options_.percentiles));
  if (csv_.is_open()) csv_ << csv_row(row) << std::flush;
  if (json_.is_open()) rows_.push_back(row);
}

Status Output::finish() {
  print(footer_text(summary_));
  if (json_.is_open()) json_ << json_text(options_, ranks_, rows_, summary_) << std::flush;
  if (csv_.is_open() && !csv_)
    return {ErrorCode::unavailable, "--csv " + options_.csv_path + ": not all was written"};
  if (json_.is_open() && !json_)
    return {ErrorCode::unavailable, "--json " + options_.json_path + ": not all was written"};
  return {};
}

void Output::print(const std::string& text) const {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);  // a row is seen when it is measured
}

}  // namespace strata::perf
