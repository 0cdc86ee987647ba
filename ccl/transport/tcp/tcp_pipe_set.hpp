// The connections to all peers, and how to learn which of them has news.
#pragma once
#include <memory>
#include <vector>

#include "ccl/base/fd.hpp"
#include "ccl/transport/pipe.hpp"
#include "ccl/transport/tcp/tcp_pipe.hpp"

namespace strata::tcp {

class TcpPipeSet final : public PipeSet {
 public:
  // Those to one peer are its streams, in their order.
  static Expected<std::unique_ptr<PipeSet>> create(std::vector<Connection> connections,
                                                   const CreditPins& pins);

  std::span<const Rank> peers() const override { return peers_; }
  std::size_t streams(Rank peer) const override;
  Pipe& pipe(Rank peer, std::size_t stream) override;
  std::size_t ready(std::span<Rank> peers) override;
  int wait_descriptor() const override { return events_.get(); }
  bool prepare_to_sleep() override;
  void woke_up() override {}

 private:
  // What the kernel watches for us at one connection.
  struct Watched {
    std::unique_ptr<TcpPipe> pipe;
    std::uint32_t interest = 0;  // 0: not any more
  };

  explicit TcpPipeSet(Fd events) : events_(std::move(events)) {}
  Status watch(std::size_t index, std::uint32_t interest);
  void look();
  void collect_events();
  void adjust_interest(std::size_t index);

  Fd events_;  // epoll, level-triggered: what is not taken is told again
  std::vector<Watched> watched_;
  std::vector<Rank> peers_;
  std::vector<std::vector<TcpPipe*>> by_rank_;
  std::size_t next_ = 0;  // where ready() starts, so that a short span starves nobody
};

}  // namespace strata::tcp
