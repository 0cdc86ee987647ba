// The run as a file: one JSON object a line for each step and each validation loss.
#pragma once
#include <cstdio>
#include <memory>
#include <string>

#include "strata/status.hpp"
#include "trainer/train/step.hpp"

namespace strata::trainer {

class Metrics final {
 public:
  // An empty path: nothing is written. Error: unavailable, naming the file and the cause.
  static Expected<Metrics> open(const std::string& path);
  void step(const StepResult& result, double tokens_per_second);
  void validation(std::int64_t steps_done, double loss);
  // Why the file could not be written, once it could not (a full disk, say); training goes on without it.
  const Status& status() const { return status_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  void write(const std::string& line);
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  Status status_;
};

}  // namespace strata::trainer
