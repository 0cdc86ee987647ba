// The pipes to all peers on this host, and how to sleep until one of them has news.
#pragma once
#include <memory>
#include <vector>

#include "ccl/shm/neighbours.hpp"
#include "ccl/transport/pipe.hpp"
#include "ccl/transport/shm/segment.hpp"
#include "ccl/transport/shm/shm_pipe.hpp"

namespace strata::shm {

class ShmPipeSet final : public PipeSet {
 public:
  // neighbours[i] writes ring i of the segment.
  static Expected<std::unique_ptr<PipeSet>> create(Segment segment, Fd doorbell,
                                                   std::vector<Neighbour> neighbours);

  std::span<const Rank> peers() const override { return peers_; }
  Pipe& pipe(Rank peer, std::size_t stream) override;
  std::size_t ready(std::span<Rank> peers) override;
  int wait_descriptor() const override { return events_.get(); }
  bool prepare_to_sleep() override;
  void woke_up() override;
  shm::Neighbours* neighbours() override { return neighbours_.get(); }

 private:
  ShmPipeSet(Segment segment, Fd doorbell, Fd events)
      : segment_(std::move(segment)), doorbell_(std::move(doorbell)), events_(std::move(events)) {}
  Status watch(int fd, std::uint64_t what);
  Status listen_again(std::size_t pipe);
  void collect_events();

  Segment segment_;  // outlives the pipes, which read it
  Fd doorbell_;
  Fd events_;  // epoll: the doorbell and each peer's end
  std::vector<std::unique_ptr<ShmPipe>> pipes_;
  std::unique_ptr<Neighbours> neighbours_;  // uses the pipes' sockets and doorbells
  std::vector<Rank> peers_;
  std::vector<ShmPipe*> by_rank_;
  std::size_t next_ = 0;  // where ready() starts, so that a short span starves nobody
  std::uint32_t calls_ = 0;
};

}  // namespace strata::shm
