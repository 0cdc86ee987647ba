#include "ccl/transport/tcp/tcp_pipe_set.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <array>

#include "ccl/base/check.hpp"
#include "ccl/base/errno_status.hpp"

namespace strata::tcp {
namespace {

// With so few connections trying to receive from each costs no more than asking epoll, and then receiving.
constexpr std::size_t kProbedMax = 2;
constexpr std::size_t kEventsMax = 64;

}  // namespace

Expected<std::unique_ptr<PipeSet>> TcpPipeSet::create(std::vector<Connection> connections,
                                                      const CreditPins& pins) {
  Fd events(::epoll_create1(EPOLL_CLOEXEC));
  if (!events.valid()) return errno_status("epoll_create1", "TCP");
  std::unique_ptr<TcpPipeSet> set(new TcpPipeSet(std::move(events)));
  for (Connection& c : connections) {
    const auto rank = static_cast<std::size_t>(c.peer);
    auto pipe = std::make_unique<TcpPipe>(std::move(c), pins);
    set->by_rank_.resize(std::max(set->by_rank_.size(), rank + 1));
    if (set->by_rank_[rank].empty()) set->peers_.push_back(pipe->peer());
    set->by_rank_[rank].push_back(pipe.get());
    set->watched_.push_back({std::move(pipe)});
    if (Status status = set->watch(set->watched_.size() - 1, EPOLLIN); !status.ok()) return status;
  }
  return std::unique_ptr<PipeSet>(std::move(set));
}

Status TcpPipeSet::watch(std::size_t index, std::uint32_t interest) {
  Watched& w = watched_[index];
  if (w.interest == interest) return {};
  const int change = interest == 0 ? EPOLL_CTL_DEL : w.interest == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  epoll_event event{};
  event.events = interest;
  event.data.u64 = index;
  if (::epoll_ctl(events_.get(), change, w.pipe->socket(), &event) != 0)
    return errno_status("epoll_ctl", "TCP");
  w.interest = interest;
  return {};
}

// Writability is watched only after a short write. A broken connection would be told of for ever.
void TcpPipeSet::adjust_interest(std::size_t index) {
  const Watched& w = watched_[index];
  if (w.interest == 0) return;
  const std::uint32_t interest = !w.pipe->status().ok() ? 0
                                 : w.pipe->starved()    ? EPOLLIN | EPOLLOUT
                                                        : EPOLLIN;
  const Status changed = watch(index, interest);
  STRATA_CHECK(changed.ok(), changed.message());  // nothing is added, so nothing can be short
}

std::size_t TcpPipeSet::streams(Rank peer) const {
  const auto i = static_cast<std::size_t>(peer);
  return i < by_rank_.size() ? by_rank_[i].size() : 0;
}

Pipe& TcpPipeSet::pipe(Rank peer, std::size_t stream) {
  STRATA_CHECK(stream < streams(peer), peer, stream);
  return *by_rank_[static_cast<std::size_t>(peer)][stream];
}

std::size_t TcpPipeSet::ready(std::span<Rank> peers) {
  look();
  std::size_t found = 0;
  for (std::size_t looked = 0; looked < watched_.size() && found < peers.size(); ++looked) {
    TcpPipe& pipe = *watched_[next_].pipe;
    if (++next_ == watched_.size()) next_ = 0;
    if (!pipe.has_news()) continue;
    pipe.reported();
    peers[found++] = pipe.peer();
  }
  return found;
}

void TcpPipeSet::look() {
  bool starved = false;
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    adjust_interest(i);
    starved = starved || watched_[i].pipe->starved();
  }
  if (starved || watched_.size() > kProbedMax) return collect_events();
  for (const Watched& w : watched_) w.pipe->look_again();
}

void TcpPipeSet::collect_events() {
  std::array<epoll_event, kEventsMax> events;
  const int count = ::epoll_wait(events_.get(), events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    TcpPipe& pipe = *watched_[event.data.u64].pipe;
    if ((event.events & EPOLLOUT) != 0) pipe.writable();
    if ((event.events & ~std::uint32_t{EPOLLOUT}) != 0) pipe.readable();
  }
}

bool TcpPipeSet::prepare_to_sleep() {
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    adjust_interest(i);
    if (watched_[i].pipe->has_news()) return false;
  }
  return true;
}

}  // namespace strata::tcp
