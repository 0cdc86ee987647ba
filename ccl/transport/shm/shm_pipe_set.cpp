#include "ccl/transport/shm/shm_pipe_set.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "ccl/base/check.hpp"
#include "ccl/base/errno_status.hpp"

namespace strata::shm {
namespace {

// What an event carries: the doorbell, or the index of a pipe, with a mark if its process is meant.
constexpr std::uint64_t kDoorbell = ~std::uint64_t{0};
constexpr std::uint64_t kProcess = std::uint64_t{1} << 32;
// News come through memory; only a peer's death needs the kernel to be asked. A busy caller does so now and
// then.
constexpr std::uint32_t kCallsPerQuestion = 1024;
constexpr std::size_t kEventsMax = 64;

}  // namespace

Expected<std::unique_ptr<PipeSet>> ShmPipeSet::create(Segment segment, Fd doorbell,
                                                      std::vector<Neighbour> neighbours) {
  Fd events(::epoll_create1(EPOLL_CLOEXEC));
  if (!events.valid()) return errno_status("epoll_create1", "shared memory");
  std::unique_ptr<ShmPipeSet> set(new ShmPipeSet(std::move(segment), std::move(doorbell), std::move(events)));
  if (Status status = set->watch(set->doorbell_.get(), kDoorbell); !status.ok()) return status;
  std::vector<Neighbours::Link> links;
  for (Neighbour& n : neighbours) {
    const std::size_t i = set->pipes_.size();
    set->peers_.push_back(n.peer);
    set->by_rank_.resize(std::max(set->by_rank_.size(), static_cast<std::size_t>(n.peer) + 1));
    auto pipe = std::make_unique<ShmPipe>(std::move(n), set->segment_.ring(static_cast<std::uint32_t>(i)));
    if (Status status = set->watch(pipe->socket(), i); !status.ok()) return status;
    if (pipe->process() >= 0)
      if (Status status = set->watch(pipe->process(), i | kProcess); !status.ok()) return status;
    links.push_back({pipe->peer(), pipe->bell(), pipe->socket()});
    set->by_rank_[static_cast<std::size_t>(pipe->peer())] = pipe.get();
    set->pipes_.push_back(std::move(pipe));
  }
  set->neighbours_ = std::make_unique<Neighbours>(std::move(links));
  return std::unique_ptr<PipeSet>(std::move(set));
}

Status ShmPipeSet::listen_again(std::size_t pipe) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP | EPOLLONESHOT;
  event.data.u64 = pipe;
  if (::epoll_ctl(events_.get(), EPOLL_CTL_MOD, pipes_[pipe]->socket(), &event) != 0)
    return errno_status("epoll_ctl", "shared memory");
  return {};
}

Status ShmPipeSet::watch(int fd, std::uint64_t what) {
  // A dead peer's descriptors stay readable for ever, so each is heard once.
  epoll_event event{};
  event.events = what == kDoorbell ? EPOLLIN : EPOLLIN | EPOLLRDHUP | EPOLLONESHOT;
  event.data.u64 = what;
  if (::epoll_ctl(events_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    return errno_status("epoll_ctl", "shared memory");
  return {};
}

Pipe& ShmPipeSet::pipe(Rank peer, std::size_t) {
  const auto i = static_cast<std::size_t>(peer);
  STRATA_CHECK(i < by_rank_.size() && by_rank_[i] != nullptr, peer);
  return *by_rank_[i];
}

std::size_t ShmPipeSet::ready(std::span<Rank> peers) {
  if (++calls_ % kCallsPerQuestion == 0) collect_events();
  std::size_t found = 0;
  std::size_t looked = 0;
  for (; looked < pipes_.size() && found < peers.size(); ++looked) {
    ShmPipe& pipe = *pipes_[next_];
    if (++next_ == pipes_.size()) next_ = 0;
    if (!pipe.has_news()) continue;
    pipe.reported();
    peers[found++] = pipe.peer();
  }
  return found;
}

bool ShmPipeSet::prepare_to_sleep() {
  segment_.sleeping().store(1, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_seq_cst);  // see doorbell.hpp
  for (const auto& pipe : pipes_) {
    if (!pipe->has_news()) continue;
    segment_.sleeping().store(0, std::memory_order_relaxed);
    return false;
  }
  return true;
}

void ShmPipeSet::woke_up() {
  segment_.sleeping().store(0, std::memory_order_relaxed);
  collect_events();
}

void ShmPipeSet::collect_events() {
  std::array<epoll_event, kEventsMax> events;
  const int count = ::epoll_wait(events_.get(), events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t what = events[static_cast<std::size_t>(i)].data.u64;
    if (what == kDoorbell) {
      std::uint64_t rings = 0;
      [[maybe_unused]] const ssize_t got = ::read(doorbell_.get(), &rings, sizeof rings);
      continue;
    }
    const std::size_t pipe = what & ~kProcess;
    const bool more = (what & kProcess) == 0 && neighbours_->receive(pipes_[pipe]->peer()).ok();
    if (!more || !listen_again(pipe).ok()) pipes_[pipe]->peer_is_gone();
  }
}

}  // namespace strata::shm
