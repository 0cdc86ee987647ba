// Cuts what a rank writes into whole lines with a prefix, so that lines of different ranks do not mix. Pure.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace strata::run {

// A line without an end may not fill the memory; what is longer is cut.
inline constexpr std::size_t kLineBytesMax = 1 << 20;

class LineCutter final {
 public:
  // An empty prefix passes the bytes on as they are, only in whole lines.
  explicit LineCutter(std::string prefix) : prefix_(std::move(prefix)) {}

  // Appends the lines that are complete. A carriage return ends a line too: it is how progress is shown.
  void feed(std::string_view bytes, std::string& out);
  // Appends what is left. It gets the line end it lacks, so that the next rank's line does not run on from
  // it; without a prefix nothing is added.
  void finish(std::string& out);

 private:
  void emit(std::string_view line, std::string& out);

  const std::string prefix_;
  std::string rest_;  // of a line whose end has not come
};

}  // namespace strata::run
