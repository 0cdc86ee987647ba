// How many bytes a connection between hosts may have under way: enough to keep its path busy, and so few that
// what is urgent, and cannot overtake them, waits for little.
#pragma once
#include <cstddef>
#include <cstdint>

namespace strata::tcp {

// What is asked for, in bytes; 0: tuned.
struct CreditPins {
  std::size_t credit_bytes = 0;
  std::size_t fragment_bytes = 0;
};

// What the kernel knows of a path while the credit is used up.
struct PathView {
  std::uint64_t flying_bytes = 0;  // sent and not acknowledged
  std::uint32_t rtt_us = 0;        // of late, queues included
  std::uint32_t min_rtt_us = 0;    // without queues
};

// Rate times (shortest round trip + time in queues), as BBR bounds what is in flight. The rate is what flies
// by the round trip that it takes (Little's law), so nothing but the present counts. All who share a queue
// see the same delay; the more a connection has under way, the less of it it accepts. So they come to equal
// shares of a short queue, however many they are, without a word between them and whatever network it is (as
// Swift scales its target with the window, Kumar et al. 2020).
class Credit final {
 public:
  static constexpr std::size_t kBytesMin = 16 << 10;  // a few packets: the next ones tell of a lost one
  static constexpr std::size_t kBytesMax = 64 << 20;
  static constexpr std::size_t kBytesFirst = 64 << 10;
  static constexpr std::uint64_t kQueueUs = 2'000;  // that a credit of kBytesFirst accepts
  static constexpr std::uint64_t kQueueUsMin = kQueueUs / 4, kQueueUsMax = kQueueUs * 2;
  static constexpr std::size_t kFragmentBytesMin = 16 << 10, kFragmentBytesMax = 128 << 10;

  explicit Credit(const CreditPins& pins);

  bool pinned() const { return pins_.credit_bytes > 0; }
  std::size_t bytes() const { return bytes_; }
  // What goes out in one piece: a quarter of the credit, since what is urgent waits for both. A multiple of
  // any element's size.
  std::size_t fragment_bytes() const;
  // It was used up, and more was to be sent. Goes half of the way, and at most doubles: views are noisy.
  void update(const PathView& view);

 private:
  CreditPins pins_;
  std::size_t bytes_;
};

}  // namespace strata::tcp
