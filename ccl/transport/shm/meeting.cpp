#include "ccl/transport/shm/meeting.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>

#include "ccl/base/errno_status.hpp"
#include "ccl/base/log.hpp"
#include "ccl/shm/local_socket.hpp"
#include "ccl/transport/fd_limit.hpp"
#include "ccl/transport/handshake.hpp"

namespace strata::shm {
namespace {

constexpr Greeting kGreeting = {'s', 't', 'r', 's', 'h', 'm', '0', '2'};
constexpr int kRetryMs = 10;               // while a peer's socket takes no connection yet
constexpr std::size_t kStrangersMax = 64;  // connections beyond those expected; the oldest is dropped
constexpr std::size_t kDescriptorsPerPeer = 3;

// Travels with the descriptors of the segment and the doorbell; the proof is a Confirm or a Welcome.
struct Grant {
  Proof proof{};
  std::uint32_t rings = 0, ring_bytes = 0, index = 0;  // the receiver writes ring `index`
};

enum class Step { connect, hello, answer, confirm, welcome, done };  // what is waited for

struct Conversation {
  Step step = Step::connect;
  Rank peer = kNoRank;  // of a newcomer: known after its hello, believed after its confirm
  Fd socket;
  Hello hello;
  Answer answer;
};

template <class Record>
std::span<std::byte> bytes_of(Record& record) {
  return std::as_writable_bytes(std::span(&record, 1));
}

class Meeting final {
 public:
  Meeting(Exchange& exchange, const Offer& offer, std::span<const Rank> peers,
          std::span<const std::string> socket_names)
      : exchange_(exchange),
        offer_(offer),
        peers_(peers),
        socket_names_(socket_names),
        neighbours_(peers.size()) {}

  Status run();
  std::vector<Neighbour> take() { return std::move(neighbours_); }

 private:
  std::size_t index_of(Rank peer) const {
    return static_cast<std::size_t>(std::find(peers_.begin(), peers_.end(), peer) - peers_.begin());
  }
  std::size_t descriptors_needed() const { return peers_.size() * kDescriptorsPerPeer + kStrangersMax; }
  Status call_higher();
  Status turn();
  Status accept_newcomers();
  Status advance(Conversation& c);
  Status on_hello(Conversation& c);
  Status on_answer(Conversation& c);
  Status on_confirm(Conversation& c);
  Status on_welcome(Conversation& c);
  Status send_grant(Conversation& c, const Proof& proof);
  Status settle(Conversation& c, const Grant& grant, PassedFds fds);
  void drop_strangers();
  Status deadline_passed() const;
  Status lost(Rank peer, const Status& why) const;

  Exchange& exchange_;
  const Offer& offer_;
  std::span<const Rank> peers_;
  std::span<const std::string> socket_names_;
  std::vector<Neighbour> neighbours_;
  std::vector<Conversation> conversations_;
  std::size_t settled_ = 0;
  bool calling_ = false;  // some connect() has to be tried again
};

Status Meeting::lost(Rank peer, const Status& why) const {
  return {why.code(), fmt::format("shared memory with rank {}: {}", peer, why.message())};
}

Status Meeting::deadline_passed() const {
  std::string missing;
  for (std::size_t i = 0; i < peers_.size(); ++i)
    if (neighbours_[i].peer == kNoRank)
      missing += fmt::format("{}{}", missing.empty() ? "" : ", ", peers_[i]);
  return {ErrorCode::timeout,
          fmt::format("the deadline passed before the ranks of this host had shared their memory; "
                      "rank {} still waits for rank(s) {}",
                      exchange_.rank(), missing)};
}

// The lower rank of each pair calls the higher one.
Status Meeting::call_higher() {
  calling_ = false;
  for (Conversation& c : conversations_) {
    if (c.step != Step::connect) continue;
    bool again = false;
    Expected<Fd> socket = connect_locally(socket_names_[index_of(c.peer)], again);
    calling_ = calling_ || again;
    if (again) continue;
    if (!socket) return lost(c.peer, socket.status());
    c.socket = std::move(*socket);
    if (Status sent = send_record(c.socket, bytes_of(c.hello)); !sent.ok()) return lost(c.peer, sent);
    c.step = Step::answer;
  }
  return {};
}

Status Meeting::run() {
  for (const Rank peer : peers_) {
    if (peer < exchange_.rank()) continue;
    Expected<Hello> hello = make_hello(kGreeting, exchange_.rank(), peer);
    if (!hello) return hello.status();
    conversations_.push_back({Step::connect, peer, {}, *hello, {}});
  }
  while (settled_ < peers_.size()) {
    if (Status status = call_higher(); !status.ok()) return status;
    if (Status status = turn(); !status.ok()) return status;
  }
  return {};
}

// Waits for the listener and for all conversations at once, so that no rank and no stranger holds up the
// others.
Status Meeting::turn() {
  const std::uint32_t left = exchange_.milliseconds_left();
  if (left == 0) return deadline_passed();
  std::vector<pollfd> waited{{offer_.listener.get(), POLLIN, 0}};
  for (const Conversation& c : conversations_) waited.push_back({c.socket.get(), POLLIN, 0});
  const int limit = static_cast<int>(std::min<std::uint32_t>(left, 1'000'000));
  const int ready = ::poll(waited.data(), waited.size(), calling_ ? std::min(limit, kRetryMs) : limit);
  if (ready < 0 && errno != EINTR) return errno_status("poll", "local sockets");
  if (ready <= 0) return {};
  for (std::size_t i = 0; i < conversations_.size(); ++i)
    if (waited[i + 1].revents != 0)
      if (Status status = advance(conversations_[i]); !status.ok()) return status;
  std::erase_if(conversations_,
                [](const Conversation& c) { return c.step != Step::connect && !c.socket.valid(); });
  if (waited[0].revents != 0) return accept_newcomers();
  return {};
}

Status Meeting::accept_newcomers() {
  for (;;) {
    Fd socket(::accept4(offer_.listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.valid() && (errno == EAGAIN || errno == EWOULDBLOCK)) return {};
    if (!socket.valid() && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (!socket.valid()) return open_failed("accept4", "the local socket", descriptors_needed());
    const Expected<PeerProcess> from = peer_process(socket);
    if (!from || from->user != ::geteuid()) {
      log::warn("shared memory: refused a local connection of user {}, process {}",
                from ? from->user : uid_t(-1), from ? from->process : 0);
      continue;
    }
    drop_strangers();
    conversations_.push_back({Step::hello, kNoRank, std::move(socket), {}, {}});
  }
}

void Meeting::drop_strangers() {
  const auto waits = [](const Conversation& c) { return c.step == Step::hello || c.step == Step::confirm; };
  const auto strangers = std::count_if(conversations_.begin(), conversations_.end(), waits);
  if (static_cast<std::size_t>(strangers) < peers_.size() + kStrangersMax) return;
  conversations_.erase(std::find_if(conversations_.begin(), conversations_.end(), waits));
}

// An error of a newcomer who has not proved to be of the job only ends that conversation.
Status Meeting::advance(Conversation& c) {
  const bool newcomer = c.step == Step::hello || c.step == Step::confirm;
  Status status;
  switch (c.step) {
    case Step::hello: status = on_hello(c); break;
    case Step::answer: status = on_answer(c); break;
    case Step::confirm: status = on_confirm(c); break;
    case Step::welcome: status = on_welcome(c); break;
    default: break;
  }
  if (status.ok() || status.code() == ErrorCode::timeout) return {};
  if (!newcomer || c.step == Step::done) return lost(c.peer, status);
  log::warn("shared memory: dropped a local connection that is not of this job: {}", status.message());
  c.socket.reset();
  return {};
}

Status Meeting::on_hello(Conversation& c) {
  if (Status got = receive_record(c.socket, bytes_of(c.hello)); !got.ok()) return got;
  const Rank me = exchange_.rank();
  const std::size_t i = index_of(c.hello.from);
  if (c.hello.greeting != kGreeting || c.hello.to != me || c.hello.from >= me || i == peers_.size())
    return {ErrorCode::unauthenticated, "its first record is no greeting from a rank expected here"};
  if (neighbours_[i].peer != kNoRank)
    return {ErrorCode::unauthenticated, fmt::format("rank {} is connected already", c.hello.from)};
  Expected<Answer> answer = make_answer(exchange_.session_key(), c.hello);
  if (!answer) return answer.status();
  c.answer = *answer;
  c.peer = c.hello.from;
  c.step = Step::confirm;
  return send_record(c.socket, bytes_of(c.answer));
}

Status Meeting::on_answer(Conversation& c) {
  if (Status got = receive_record(c.socket, bytes_of(c.answer)); !got.ok()) return got;
  if (!verify(exchange_.session_key(), c.hello, c.answer))
    return {ErrorCode::unauthenticated, "who answers on its socket does not have this job's session key"};
  c.step = Step::welcome;
  return send_grant(c, make_confirm(exchange_.session_key(), c.hello, c.answer).proof);
}

Status Meeting::on_confirm(Conversation& c) {
  Grant grant;
  PassedFds fds;
  if (Status got = receive_record(c.socket, bytes_of(grant), &fds); !got.ok()) return got;
  if (!verify(exchange_.session_key(), c.hello, c.answer, Confirm{grant.proof}))
    return {ErrorCode::unauthenticated,
            fmt::format("it says it is rank {} and does not have this job's session key", c.hello.from)};
  if (neighbours_[index_of(c.peer)].peer != kNoRank)
    return {ErrorCode::unauthenticated, fmt::format("rank {} is connected already", c.peer)};
  c.step = Step::done;  // from here on its errors are ours
  const Proof welcome = make_welcome(exchange_.session_key(), c.hello, c.answer).proof;
  if (Status sent = send_grant(c, welcome); !sent.ok()) return sent;
  return settle(c, grant, std::move(fds));
}

Status Meeting::on_welcome(Conversation& c) {
  Grant grant;
  PassedFds fds;
  if (Status got = receive_record(c.socket, bytes_of(grant), &fds); !got.ok()) return got;
  if (!verify(exchange_.session_key(), c.hello, c.answer, Welcome{grant.proof}))
    return {ErrorCode::unauthenticated, "its welcome does not have the proof of this job's session key"};
  c.step = Step::done;
  return settle(c, grant, std::move(fds));
}

Status Meeting::send_grant(Conversation& c, const Proof& proof) {
  const SegmentLayout& layout = offer_.segment.layout();
  Grant grant{proof, layout.rings, layout.ring_bytes, static_cast<std::uint32_t>(index_of(c.peer))};
  const int fds[kPassedFds] = {offer_.segment.fd(), offer_.doorbell.get()};
  return send_record(c.socket, bytes_of(grant), fds);
}

Status Meeting::settle(Conversation& c, const Grant& grant, PassedFds fds) {
  Expected<PeerRing> ring = PeerRing::open(fds[0], {grant.rings, grant.ring_bytes}, grant.index);
  if (!ring) return ring.status();
  Neighbour& n = neighbours_[index_of(c.peer)];
  n.peer = c.peer;
  n.ring = std::move(*ring);
  n.doorbell = std::move(fds[1]);
  n.socket = std::move(c.socket);
  const Expected<PeerProcess> process = peer_process(n.socket);
  if (process && process->process > 0)
    n.process.reset(static_cast<int>(::syscall(SYS_pidfd_open, process->process, 0)));
  ++settled_;
  return {};
}

}  // namespace

Expected<std::vector<Neighbour>> meet(Exchange& exchange, const Offer& offer, std::span<const Rank> peers,
                                      std::span<const std::string> socket_names) {
  Meeting meeting(exchange, offer, peers, socket_names);
  if (Status status = meeting.run(); !status.ok()) return status;
  return meeting.take();
}

}  // namespace strata::shm
