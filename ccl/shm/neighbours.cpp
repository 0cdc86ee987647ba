#include "ccl/shm/neighbours.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>

#include "ccl/base/check.hpp"
#include "ccl/shm/local_socket.hpp"
#include "ccl/shm/memory_file.hpp"

namespace strata::shm {

// On the socket; with the file, or, to take a region back, without.
struct Neighbours::Message {
  std::uint64_t key = 0;
  std::uint64_t bytes = 0;
};

struct Neighbours::Outgoing {
  Message message;
  Fd file;
};

Neighbours::Neighbours(std::vector<Link> links) {
  for (const Link& link : links) {
    const auto i = static_cast<std::size_t>(link.peer);
    if (by_rank_.size() <= i) by_rank_.resize(i + 1);
    by_rank_[i] = std::make_unique<Peer>();
    by_rank_[i]->link = link;
  }
}

Neighbours::~Neighbours() = default;

const Neighbours::Link* Neighbours::link(Rank peer) const {
  const auto i = static_cast<std::size_t>(peer);
  return i < by_rank_.size() && by_rank_[i] ? &by_rank_[i]->link : nullptr;
}

Neighbours::Peer* Neighbours::find_peer(Rank peer) {
  const auto i = static_cast<std::size_t>(peer);
  return i < by_rank_.size() ? by_rank_[i].get() : nullptr;
}

void Neighbours::share(Rank to, std::uint64_t key, const Fd& file, std::uint64_t bytes) {
  Peer* const peer = find_peer(to);
  STRATA_CHECK(peer != nullptr, to);
  if (std::find(peer->given.begin(), peer->given.end(), key) != peer->given.end()) return;
  peer->given.push_back(key);
  send(*peer, {key, bytes}, &file);
}

void Neighbours::withdraw(std::uint64_t key) {
  for (const auto& peer : by_rank_)
    if (peer && std::erase(peer->given, key) > 0) send(*peer, {key, 0}, nullptr);
}

void Neighbours::retire(std::uint64_t key) {
  for (const auto& peer : by_rank_)
    if (peer) std::erase(peer->given, key);
}

void Neighbours::drop(Rank owner, std::uint64_t key) {
  (void)receive(owner);  // it may lie there unread
  find_peer(owner)->regions.erase(key);
}

void Neighbours::send(Peer& peer, const Message& message, const Fd* file) {
  if (!peer.ended.ok()) return;
  Outgoing out{message, file ? Fd(::fcntl(file->get(), F_DUPFD_CLOEXEC, 0)) : Fd()};
  peer.waiting.push_back(std::move(out));
  ++waiting_;
  flush(peer);
}

bool Neighbours::flush() {
  if (waiting_ == 0) return true;
  for (const auto& peer : by_rank_)
    if (peer) flush(*peer);
  return waiting_ == 0;
}

void Neighbours::flush(Peer& peer) {
  while (!peer.waiting.empty()) {
    const Outgoing& out = peer.waiting.front();
    const int fd = out.file.get();
    if (peer.ended.ok()) {
      const Status sent = send_record(peer.link.socket, std::as_bytes(std::span(&out.message, 1)),
                                      std::span(&fd, out.file.valid() ? 1 : 0));
      if (sent.code() == ErrorCode::timeout) return;
      if (!sent.ok()) peer.ended = sent;  // the transport finds out too, and says so
    }
    peer.waiting.pop_front();
    --waiting_;
  }
}

Expected<std::shared_ptr<const Region>> Neighbours::find(Rank owner, std::uint64_t key) {
  Peer* const peer = find_peer(owner);
  STRATA_CHECK(peer != nullptr, owner);
  auto held = peer->regions.find(key);
  if (held == peer->regions.end()) {
    (void)receive(owner);  // it may lie there unread; of its end the transport hears too
    held = peer->regions.find(key);
  }
  if (held == peer->regions.end()) return std::shared_ptr<const Region>();
  return held->second;
}

Expected<std::shared_ptr<const Region>> Neighbours::take(Rank owner, std::uint64_t key) {
  auto found = find(owner, key);
  if (found && *found) find_peer(owner)->regions.erase(key);
  return found;
}

Status Neighbours::receive(Rank from) {
  Peer* const peer = find_peer(from);
  STRATA_CHECK(peer != nullptr, from);
  for (;;) {
    Message message;
    PassedFds fds;
    const Expected<std::size_t> got =
        receive_some(peer->link.socket, std::as_writable_bytes(std::span(&message, 1)), fds);
    if (got)
      accept(*peer, message, std::move(fds[0]));
    else
      return got.status().code() == ErrorCode::timeout ? Status{} : got.status();
  }
}

void Neighbours::accept(Peer& peer, const Message& message, Fd file) {
  if (message.bytes == 0) {
    peer.regions.erase(message.key);
    return;
  }
  const auto mapped = [&]() -> Expected<std::shared_ptr<const Region>> {
    if (Status status = check_memory_file(file, message.bytes); !status.ok()) return status;
    Expected<Mapping> memory = map(file, 0, message.bytes);
    if (!memory) return memory.status();
    return std::make_shared<const Region>(Region{std::move(*memory), message.bytes});
  };
  auto region = mapped();
  if (!region)
    region = Status(region.status().code(),
                    fmt::format("memory of rank {}: {}", peer.link.peer, region.status().message()));
  peer.regions.insert_or_assign(message.key, std::move(region));
}

}  // namespace strata::shm
