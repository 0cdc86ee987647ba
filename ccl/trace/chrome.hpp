// Writes timelines as one file in the trace-event format of Chrome, which Perfetto reads too.
#pragma once
#include <fmt/format.h>

#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "ccl/trace/timeline.hpp"
#include "strata/status.hpp"

namespace strata::trace {

// The file appears under its name when finish() has written all of it. Times are microseconds since the begin
// of the first timeline. A process is a rank; its tracks are threads, and as many for messages as are under
// way at once. Operations are asynchronous spans. An arrow goes from each send to its receive.
class ChromeFile final {
 public:
  // algorithms: the names of the catalog, by number; outlives this.
  ChromeFile(std::string path, std::span<const std::string_view> algorithms);
  ChromeFile(const ChromeFile&) = delete;
  ChromeFile& operator=(const ChromeFile&) = delete;
  ~ChromeFile();  // of one that is not finished nothing is left

  Status open();
  void add(const Timeline& timeline);
  Status finish();  // error: what could not be written, now or before

 private:
  void event(std::string_view text);
  void name_tracks(const Timeline& timeline, std::size_t sends, std::size_t receives);
  void add_operation(const Timeline& timeline, const OperationSpan& operation);
  void add_spans(const Timeline& timeline);
  std::size_t add_messages(const Timeline& timeline, Direction direction);
  void flush();
  std::string us(Time ns) const;

  const std::string path_, temporary_;
  const std::span<const std::string_view> algorithms_;
  std::FILE* file_ = nullptr;
  fmt::memory_buffer buffer_;
  Status failed_;
  Time origin_ = kNever;
  std::string of_ranks_;  // what the file says of each rank as a whole
  std::uint64_t dropped_ = 0;
  bool first_ = true;
};

}  // namespace strata::trace
