// Where the ranks' output goes: one of this process's own streams, written without ever blocking the
// supervisor.
#pragma once
#include <string>

namespace strata::run {

// More than this waiting to be written: ranks must wait with their output.
inline constexpr std::size_t kSinkBytesMax = 4 << 20;

class Sink final {
 public:
  explicit Sink(int fd) : fd_(fd) {}
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  std::string& buffer() { return buffer_; }  // append here, then write()
  bool waiting() const { return !broken_ && !buffer_.empty(); }
  bool full() const { return buffer_.size() > kSinkBytesMax; }
  bool broken() const { return broken_; }  // nobody reads it any more
  int fd() const { return fd_; }
  void write();      // as much as can be written now
  void write_all();  // the rest, at the end; waits for a slow reader

 private:
  bool write_some(int timeout_ms);

  const int fd_;
  std::string buffer_;
  bool broken_ = false;
};

}  // namespace strata::run
