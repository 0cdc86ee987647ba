// Matches posted halves by (from, to, tag) and moves the bytes when the second one comes.
#include "ccl/transport/memory_hub.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "ccl/base/check.hpp"

namespace strata {
namespace {

inline constexpr std::size_t kQuestionsPerPollMax = 64;

void deliver(const WireOp& receive, const WireOp& send) {
  if (receive.length == 0) return;
  if (receive.kind == WireKind::recv) {
    std::memcpy(receive.data, send.data, receive.length);
  } else {
    receive.reduce(receive.data, receive.addend, send.data, receive.length / receive.element_bytes);
  }
}

}  // namespace

std::size_t MemoryHub::RouteHash::operator()(const Route& route) const noexcept {
  std::uint64_t h = route.tag.operation * 0x9e3779b97f4a7c15ull;
  h = (h ^ (std::uint64_t{route.tag.communicator} << 32 | route.tag.message)) * 0xbf58476d1ce4e5b9ull;
  h = (h ^ (h >> 31) ^ static_cast<std::uint64_t>(route.from) << 32 ^ static_cast<std::uint64_t>(route.to)) *
      0x94d049bb133111ebull;
  return h ^ (h >> 29);
}

MemoryHub::MemoryHub(int size, Capabilities capabilities)
    : capabilities_(capabilities), ports_(static_cast<std::size_t>(size)) {
  for (Port& port : ports_) {
    port.event = Fd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    STRATA_CHECK(port.event.valid(), errno);
  }
}

void MemoryHub::attach(Rank rank) {
  const std::lock_guard lock(mutex_);
  STRATA_CHECK(port(rank).presence == Presence::awaited, rank);
  port(rank).presence = Presence::here;
}

void MemoryHub::detach(Rank rank) {
  const std::lock_guard lock(mutex_);
  port(rank).presence = Presence::gone;
  port(rank).completions.clear();
  port(rank).strangers.clear();
  std::erase_if(waiting_, [&](const auto& entry) {
    const auto& [route, half] = entry;
    if (route.from != rank && route.to != rank) return false;
    const Rank owner = half.sends() ? route.from : route.to;
    if (owner != rank) complete(owner, {.cookie = half.op.cookie, .error = ErrorCode::peer_lost});
    return true;
  });
}

void MemoryHub::post(Rank self, const WireOp& op) {
  const std::lock_guard lock(mutex_);
  if (port(op.peer).presence == Presence::gone) {
    return complete(self, {.cookie = op.cookie, .error = ErrorCode::peer_lost});
  }
  const bool sends = op.kind == WireKind::send;
  const Route route{sends ? self : op.peer, sends ? op.peer : self, op.tag};
  const auto [first, added] = waiting_.try_emplace(route, Half{op});
  if (added) {
    if (!sends) return;
    port(op.peer).strangers.push_back(route);
    return wake(port(op.peer));
  }
  const Half half = first->second;
  STRATA_CHECK(half.sends() != sends, "the tag is in use", op.tag.communicator, op.tag.operation,
               op.tag.message);
  waiting_.erase(first);
  sends ? pair(route, op, half.op) : pair(route, half.op, op);
}

void MemoryHub::pair(const Route& route, const WireOp& send, const WireOp& receive) {
  if (send.length == receive.length && send.fingerprint == receive.fingerprint) {
    deliver(receive, send);
    complete(route.from, {.cookie = send.cookie});
    complete(route.to, {.cookie = receive.cookie});
    return;
  }
  complete(route.from, {send.cookie, ErrorCode::mismatch, receive.fingerprint, receive.length});
  complete(route.to, {receive.cookie, ErrorCode::mismatch, send.fingerprint, send.length});
}

void MemoryHub::cancel(Rank self, const CancelScope& scope) {
  const std::lock_guard lock(mutex_);
  std::erase_if(waiting_, [&](const auto& entry) {
    const auto& [route, half] = entry;
    const Rank owner = half.sends() ? route.from : route.to;
    const Rank other = half.sends() ? route.to : route.from;
    if (owner != self || !scope.covers(other, route.tag)) return false;
    complete(self, {.cookie = half.op.cookie, .error = ErrorCode::aborted});
    return true;
  });
}

// The listener is called without the lock: it may take locks of its own, which other ranks hold while they
// post.
void MemoryHub::ask(Rank self, Listener& listener) {
  struct Question {
    Route route;
    Fingerprint theirs;
  };
  std::array<Question, kQuestionsPerPollMax> questions;
  std::size_t count = 0;
  {
    const std::lock_guard lock(mutex_);
    auto& strangers = port(self).strangers;
    for (; count < questions.size() && !strangers.empty(); strangers.pop_front()) {
      const auto it = waiting_.find(strangers.front());
      if (it == waiting_.end() || !it->second.sends() || it->second.asked) continue;
      it->second.asked = true;
      questions[count++] = {it->first, it->second.op.fingerprint};
    }
  }
  for (const Question& question : std::span(questions).first(count)) {
    const auto verdict = listener.unexpected(question.route.from, question.route.tag, question.theirs);
    if (verdict == Listener::Verdict::keep) continue;
    const std::lock_guard lock(mutex_);
    const auto it = waiting_.find(question.route);
    if (it == waiting_.end()) continue;  // cancelled meanwhile, or its sender is gone
    complete(question.route.from,
             {.cookie = it->second.op.cookie});  // taken from the sender, and thrown away
    waiting_.erase(it);
  }
}

std::size_t MemoryHub::take(Rank self, std::span<Completion> completions) {
  const std::lock_guard lock(mutex_);
  auto& queue = port(self).completions;
  const std::size_t count = std::min(completions.size(), queue.size());
  std::copy_n(queue.begin(), count, completions.begin());
  queue.erase(queue.begin(), queue.begin() + static_cast<std::ptrdiff_t>(count));
  return count;
}

void MemoryHub::complete(Rank owner, const Completion& completion) {
  port(owner).completions.push_back(completion);
  wake(port(owner));
}

void MemoryHub::wake(Port& port) {
  if (!port.asleep) return;
  port.asleep = false;
  ::eventfd_write(port.event.get(), 1);
}

bool MemoryHub::prepare_to_sleep(Rank self) {
  const std::lock_guard lock(mutex_);
  if (!port(self).completions.empty() || !port(self).strangers.empty()) return false;
  return port(self).asleep = true;
}

void MemoryHub::woke_up(Rank self) {
  const std::lock_guard lock(mutex_);
  port(self).asleep = false;
  eventfd_t ignored;
  ::eventfd_read(port(self).event.get(), &ignored);
}

bool MemoryHub::gone(Rank rank) const {
  const std::lock_guard lock(mutex_);
  return ports_[static_cast<std::size_t>(rank)].presence == Presence::gone;
}

}  // namespace strata
