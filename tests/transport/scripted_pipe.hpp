// A pipe of which the test is the other end: it says what arrives and sees what was written.
#pragma once
#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "ccl/transport/pipe.hpp"
#include "ccl/transport/stream/frame.hpp"

namespace strata::test {

// What the test holds of it.
struct Script {
  std::vector<std::byte> arriving;  // bytes for the transport to read, from `read_count` on
  std::size_t read_count = 0;
  std::size_t piece_bytes_max = 1024;  // peek and read give no more at once
  std::vector<std::byte> written;
  std::size_t room_bytes = ~std::size_t{0};  // for writes
  Status status;
  Status status_when_drained;  // becomes the status when a peek finds nothing, as a socket finds its end
  bool quiet = false;          // the set does not report the peer ready for this pipe's sake
  bool closed = false;         // the transport writes no more

  void arrive(const void* bytes, std::size_t count) {
    const auto* begin = static_cast<const std::byte*>(bytes);
    arriving.insert(arriving.end(), begin, begin + count);
  }
  void arrive(const stream::FrameHeader& header) { arrive(&header, sizeof header); }
  std::size_t unread() const { return arriving.size() - read_count; }
};

class ScriptedPipe final : public Pipe {
 public:
  explicit ScriptedPipe(std::shared_ptr<Script> script) : script_(std::move(script)) {}

  std::size_t write(std::span<const iovec> parts) override {
    std::size_t taken = 0;
    for (const iovec& part : parts) {
      const std::size_t count = std::min(part.iov_len, script_->room_bytes - taken);
      const auto* begin = static_cast<const std::byte*>(part.iov_base);
      script_->written.insert(script_->written.end(), begin, begin + count);
      taken += count;
    }
    script_->room_bytes -= taken;
    return taken;
  }
  std::span<const std::byte> peek() override {
    const std::size_t count = std::min(script_->unread(), script_->piece_bytes_max);
    if (count == 0 && script_->status.ok()) script_->status = script_->status_when_drained;
    // Exactly as large as what may be looked at, so that a sanitizer sees who looks further.
    piece_ = std::make_unique<std::byte[]>(count);
    if (count > 0) std::memcpy(piece_.get(), script_->arriving.data() + script_->read_count, count);
    return {piece_.get(), count};
  }
  void consume(std::size_t bytes) override { script_->read_count += bytes; }
  std::size_t read(std::span<std::byte> into) override {
    const std::size_t count = std::min({into.size(), script_->unread(), script_->piece_bytes_max});
    if (count > 0) std::memcpy(into.data(), script_->arriving.data() + script_->read_count, count);
    script_->read_count += count;
    return count;
  }
  Status status() const override { return script_->status; }
  void close() override { script_->closed = true; }

 private:
  const std::shared_ptr<Script> script_;
  std::unique_ptr<std::byte[]> piece_;
};

// Rank 0's pipes, all to rank 1. Unless all are quiet, it is always reported ready.
class ScriptedPipes final : public PipeSet {
 public:
  explicit ScriptedPipes(std::vector<std::shared_ptr<Script>> scripts) : scripts_(std::move(scripts)) {
    for (const auto& script : scripts_) pipes_.emplace_back(script);
  }
  explicit ScriptedPipes(std::shared_ptr<Script> script) : ScriptedPipes(std::vector{std::move(script)}) {}
  std::span<const Rank> peers() const override { return {&kPeer, 1}; }
  std::size_t streams(Rank) const override { return pipes_.size(); }
  using PipeSet::pipe;
  Pipe& pipe(Rank, std::size_t stream) override { return pipes_[stream]; }
  std::size_t ready(std::span<Rank> peers) override {
    peers[0] = kPeer;
    return std::any_of(scripts_.begin(), scripts_.end(), [](const auto& s) { return !s->quiet; });
  }
  int wait_descriptor() const override { return -1; }
  bool prepare_to_sleep() override { return true; }
  void woke_up() override {}

  static constexpr Rank kPeer = 1;

 private:
  const std::vector<std::shared_ptr<Script>> scripts_;
  std::deque<ScriptedPipe> pipes_;
};

}  // namespace strata::test
