// Takes records from any thread, without allocating, locking or calling the system.
#pragma once
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>

#include "ccl/trace/clock.hpp"
#include "ccl/trace/part.hpp"
#include "ccl/trace/record.hpp"
#include "strata/status.hpp"

namespace strata::trace {

struct Identity {
  Rank rank = 0;
  int size = 1;
  std::string host;
};

// When it is full, what comes is dropped and counted. A recorder is never destroyed, since threads that still
// have a span open may come late: close() gives its memory back, and what comes then is lost.
class Recorder final {
 public:
  // Makes the file; `bytes` is its size. Error: unavailable, it cannot be made.
  static Expected<Recorder*> open(const std::string& path, const Identity& identity, std::uint64_t bytes);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  std::uint64_t now() const { return counter_ ? __rdtsc() : monotonic_ns(); }  // ticks

  void add(Kind kind, Record record) {
    if (thread_.recorder != this) introduce_thread();
    const std::uint64_t place = std::atomic_ref(header_->next).fetch_add(1, std::memory_order_relaxed);
    if (place >= records_max_) return;
    if (place % kRecordsBetweenAnchors == 0) drop_anchor();
    record.thread = thread_.index;
    Record& to = records_[place];
    std::memcpy(&to, &record, sizeof record);  // its kind is still none
    std::atomic_ref(to.kind).store(kind, std::memory_order_release);
  }

  // Before there are others at work with it.
  void set_offset(const ClockOffset& first) { header_->first = header_->last = first; }
  const std::string& path() const { return path_; }
  // What there is so far.
  Part snapshot();
  // The file is removed unless it is to be kept.
  void close(bool keep);

 private:
  // So that the ticks of one that is killed can be told.
  static constexpr std::uint64_t kRecordsBetweenAnchors = 1024;
  struct Thread {
    const Recorder* recorder = nullptr;
    std::uint16_t index = 0;
  };
  static thread_local constinit Thread thread_;

  Recorder(std::string path, void* memory, std::uint64_t bytes);
  void introduce_thread();
  void drop_anchor();

  const bool counter_ = has_steady_counter();
  const std::string path_;
  PartHeader* const header_;
  Record* const records_;
  const std::uint64_t bytes_, records_max_;
  std::atomic<std::uint32_t> threads_{0};
};

}  // namespace strata::trace
