#include "ccl/transport/shm/ring.hpp"

#include <algorithm>
#include <cstring>

#include "ccl/base/check.hpp"

namespace strata::shm {
namespace {

// A starved writer is told when so much is free, not at the first byte: one wake-up, then a worthwhile copy.
// A reader that keeps reading always gets there, as an empty ring has all of it.
std::uint64_t relief_bytes(std::uint32_t ring_bytes) { return ring_bytes / 4; }

// A reader that is ahead of the writer tells so every so many bytes, and when the ring is empty.
std::uint64_t lazy_bytes(std::uint32_t ring_bytes) { return ring_bytes / 8; }

}  // namespace

std::uint64_t RingWriter::space() {
  tail_seen_ = ring_.control->tail.load(std::memory_order_acquire);
  const std::uint64_t used = head_ - tail_seen_;
  corrupt_ = corrupt_ || used > ring_.size;
  return corrupt_ ? 0 : ring_.size - used;
}

bool RingWriter::relieved() {
  if (!starved_ || (space() < relief_bytes(ring_.size) && !corrupt_)) return false;
  set_starved(false);
  return true;
}

void RingWriter::set_starved(bool starved) {
  if (starved == starved_) return;
  starved_ = starved;
  ring_.control->starved.store(starved ? 1 : 0, std::memory_order_release);
}

void RingWriter::publish() {
  if (published_ == head_) return;
  published_ = head_;
  ring_.control->head.store(head_, std::memory_order_release);
  if (reader_.owner_sleeps()) reader_.ring();
}

std::size_t RingWriter::append(const std::byte* data, std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes) {
    std::uint64_t room = corrupt_ ? 0 : ring_.size - (head_ - tail_seen_);
    if (room < bytes - done) room = space();
    if (room == 0) break;
    const std::size_t at = head_ & (ring_.size - 1);
    const std::size_t piece =
        std::min<std::size_t>({bytes - done, room, ring_.size - at, kPieceBytes - (head_ - published_)});
    std::memcpy(ring_.bytes + at, data + done, piece);
    done += piece;
    head_ += piece;
    if (head_ - published_ == kPieceBytes) publish();
  }
  return done;
}

std::size_t RingWriter::write(std::span<const iovec> parts) {
  std::size_t done = 0;
  bool starved = false;
  for (const iovec& part : parts) {
    const std::size_t taken = append(static_cast<const std::byte*>(part.iov_base), part.iov_len);
    done += taken;
    starved = taken < part.iov_len;
    if (starved) break;
  }
  set_starved(starved);
  publish();
  return done;
}

std::uint64_t RingReader::available() {
  if (head_seen_ != tail_ || corrupt_) return corrupt_ ? 0 : head_seen_ - tail_;
  const std::uint64_t head = ring_.control->head.load(std::memory_order_acquire);
  corrupt_ = head - tail_ > ring_.size;
  if (corrupt_) return 0;
  head_seen_ = head;
  return head_seen_ - tail_;
}

bool RingReader::readable() {
  if (available() != 0) return true;
  publish();
  return false;
}

void RingReader::publish() {
  if (published_ == tail_) return;
  published_ = tail_;
  ring_.control->tail.store(tail_, std::memory_order_release);
  if (!writer_.owner_sleeps()) return;
  // Its starved flag and its head are those from before it slept: see doorbell.hpp.
  if (ring_.control->starved.load(std::memory_order_acquire) == 0) return;
  const std::uint64_t used = ring_.control->head.load(std::memory_order_acquire) - tail_;
  if (used <= ring_.size - relief_bytes(ring_.size)) writer_.ring();
}

std::span<const std::byte> RingReader::peek() {
  const std::uint64_t bytes = available();
  const std::size_t at = tail_ & (ring_.size - 1);
  return {ring_.bytes + at, std::min<std::size_t>(bytes, ring_.size - at)};
}

void RingReader::consume(std::size_t bytes) {
  STRATA_CHECK(bytes <= head_seen_ - tail_, bytes, head_seen_, tail_);
  tail_ += bytes;
  if (tail_ - published_ >= lazy_bytes(ring_.size)) publish();
}

std::size_t RingReader::read(std::span<std::byte> into) {
  std::size_t done = 0;
  while (done < into.size()) {
    const std::span<const std::byte> run = peek();
    const std::size_t piece = std::min({run.size(), into.size() - done, kPieceBytes});
    if (piece == 0) break;
    std::memcpy(into.data() + done, run.data(), piece);
    done += piece;
    consume(piece);
  }
  return done;
}

}  // namespace strata::shm
