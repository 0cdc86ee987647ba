// The two rings between this rank and one peer, as a pipe.
#pragma once
#include <optional>

#include "ccl/transport/pipe.hpp"
#include "ccl/transport/shm/meeting.hpp"
#include "ccl/transport/shm/ring.hpp"

namespace strata::shm {

class ShmPipe final : public Pipe {
 public:
  ShmPipe(Neighbour neighbour, RingMemory inbound);
  ~ShmPipe() override;
  ShmPipe(const ShmPipe&) = delete;
  ShmPipe& operator=(const ShmPipe&) = delete;

  std::size_t write(std::span<const iovec> parts) override;
  std::span<const std::byte> peek() override;
  void consume(std::size_t bytes) override { reader_.consume(bytes); }
  std::size_t read(std::span<std::byte> into) override;
  Status status() const override { return status_; }

  Rank peer() const { return neighbour_.peer; }
  int socket() const { return neighbour_.socket.get(); }
  int process() const { return neighbour_.process.get(); }  // -1: not known
  Doorbell bell() const { return {&neighbour_.ring.sleeping(), neighbour_.doorbell.get()}; }
  // Something to read; or space again after a short write, or broken, and not reported yet.
  bool has_news();
  void reported() { unreported_ = false; }
  void peer_is_gone();

 private:
  void fail(ErrorCode code, std::string_view what);
  void check_indices();

  Neighbour neighbour_;
  RingWriter writer_;
  RingReader reader_;
  Status status_;
  bool unreported_ = false;
};

}  // namespace strata::shm
