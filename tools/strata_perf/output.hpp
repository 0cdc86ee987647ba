// Where rank 0's report goes: standard output as it comes, and the files asked for.
#pragma once
#include <fstream>
#include <string>
#include <vector>

#include "tools/strata_perf/report.hpp"

namespace strata::perf {

class Output final {
 public:
  // Opens the files, so that a path that cannot be written is known before anything is measured.
  // Error: unavailable, naming the path and the reason.
  Status open(const Options& options, std::vector<RankInfo> ranks);
  void begin(const TestCase& test);
  void add(const Row& row);
  // Status: the files could not be written.
  Status finish();
  const Summary& summary() const { return summary_; }

 private:
  void print(const std::string& text) const;

  Options options_;
  std::vector<RankInfo> ranks_;
  std::vector<Row> rows_;
  Summary summary_;
  std::ofstream csv_, json_;
};

}  // namespace strata::perf
