// A transport out of byte pipes: for each peer a sender, and for each of its pipes an outlet and a receiver,
// over one ledger of messages. The frames are in frame.hpp, the rules of the protocol in matcher.hpp, the
// order of sending in sender.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <deque>

#include "ccl/base/check.hpp"
#include "ccl/transport/pipe.hpp"
#include "ccl/transport/stream/outlet.hpp"
#include "ccl/transport/stream/receiver.hpp"

namespace strata {
namespace {

using namespace stream;

inline constexpr std::size_t kBytesPerTurn = 256 << 10;  // of one pipe, each direction
inline constexpr std::size_t kTurnsPerPoll = 8;

struct Stream {
  Stream(Rank peer, Pipe& its_pipe, Ledger& ledger, Matcher& matcher, Sender& sender, bool first)
      : pipe(its_pipe), outlet(its_pipe, sender, first), receiver(peer, its_pipe, ledger, matcher, sender) {}
  Pipe& pipe;
  Outlet outlet;
  Receiver receiver;
  bool readable = true;  // bytes may have arrived that were not taken
  bool ended = false;    // broken, and all that had arrived was taken
};

struct Link {
  Link(Rank rank, PipeSet& pipes, Ledger& ledger, Matcher& matcher) : peer(rank), sender(ledger) {
    for (std::size_t i = 0; i < pipes.streams(rank); ++i)
      streams.emplace_back(rank, pipes.pipe(rank, i), ledger, matcher, sender, i == 0);
  }
  bool wants_to_send() const {
    return std::any_of(streams.begin(), streams.end(), [](const Stream& s) { return s.outlet.wants_turn(); });
  }
  bool readable() const {
    return std::any_of(streams.begin(), streams.end(), [](const Stream& s) { return s.readable; });
  }

  const Rank peer;
  Sender sender;
  std::deque<Stream> streams;  // they do not move
  Status first_end;            // not ok: why the first of the streams to end did
  Status status;               // not ok: lost
  bool in_line = false;        // waits for its turn
};

std::size_t ranks_of(std::span<const Rank> peers) {
  return peers.empty() ? 0 : static_cast<std::size_t>(*std::max_element(peers.begin(), peers.end())) + 1;
}

// What a lost peer still sends would be news for ever, and let nobody sleep.
void discard(Pipe& pipe) {
  std::size_t taken = 0;
  for (auto bytes = pipe.peek(); !bytes.empty() && taken < kBytesPerTurn; bytes = pipe.peek()) {
    taken += bytes.size();
    pipe.consume(bytes.size());
  }
}

class StreamTransport final : public Transport {
 public:
  StreamTransport(std::unique_ptr<PipeSet> pipes, Listener& listener)
      : pipes_(std::move(pipes)),
        ledger_(ranks_of(pipes_->peers())),
        matcher_(ledger_, listener),
        by_rank_(ranks_of(pipes_->peers()), nullptr),
        news_(pipes_->peers().size()) {
    for (const Rank peer : pipes_->peers()) {
      Link& link = links_.emplace_back(peer, *pipes_, ledger_, matcher_);
      by_rank_[static_cast<std::size_t>(peer)] = &link;
      line_up(link);
    }
  }

  Capabilities capabilities() const override { return {.at_once_bytes_max = kEagerBytesMax}; }
  void post(const WireOp& op) override;
  bool try_at_once(const WireOp& op) override;
  std::size_t poll(std::span<Completion> completions) override;
  void cancel(const CancelScope& scope) override;
  int wait_descriptor() const override { return pipes_->wait_descriptor(); }
  bool prepare_to_sleep() override {
    return ledger_.ended() == 0 && line_.empty() && pipes_->prepare_to_sleep();
  }
  void woke_up() override { pipes_->woke_up(); }
  Status peer_status(Rank peer) const override { return link_to(peer).status; }
  shm::Neighbours* neighbours() override { return pipes_->neighbours(); }

 private:
  Link& link_to(Rank peer) const {
    STRATA_CHECK(peer >= 0 && static_cast<std::size_t>(peer) < by_rank_.size() && by_rank_[peer] != nullptr,
                 peer);
    return *by_rank_[static_cast<std::size_t>(peer)];
  }
  void line_up(Link& link) {
    if (link.in_line || !link.status.ok()) return;
    link.in_line = true;
    line_.push(&link);
  }
  bool receive_at_once(Link& link, const WireOp& op);
  void hear_news();
  void take_turns(std::size_t enough);
  void take_turn(Link& link);
  void send(Link& link);
  void receive(Link& link, Stream& stream);
  void end(Link& link, Stream& stream, Status reason);
  void lose(Link& link, Status reason);

  const std::unique_ptr<PipeSet> pipes_;
  Ledger ledger_;
  Matcher matcher_;
  std::deque<Link> links_;  // they do not move
  std::vector<Link*> by_rank_;
  Fifo<Link*> line_;  // links with something to do; each stands in it at most once
  std::vector<Rank> news_;
};

void StreamTransport::post(const WireOp& op) {
  Link& link = link_to(op.peer);
  STRATA_CHECK(op.data != nullptr || op.length == 0, op.length);
  if (op.kind == WireKind::recv_reduce) {
    STRATA_CHECK(std::has_single_bit(op.element_bytes) && op.element_bytes <= kElementBytesMax &&
                     op.length % op.element_bytes == 0,
                 op.length, int{op.element_bytes});
    STRATA_CHECK(op.reduce != nullptr && (op.addend != nullptr || op.length == 0), op.length);
  }
  if (!link.status.ok()) return matcher_.post_to_lost(op, link.sender);
  op.kind == WireKind::send ? matcher_.post_send(op, link.sender) : matcher_.post_receive(op, link.sender);
  if (link.wants_to_send()) line_up(link);
}

// A ready that came early, for a receive that was called otherwise perhaps, is for post() to look at.
bool StreamTransport::try_at_once(const WireOp& op) {
  Link& link = link_to(op.peer);
  if (!link.status.ok()) return false;
  if (op.kind == WireKind::send)
    return ledger_.early(op.peer) == 0 && link.streams.front().outlet.send_alone(op);
  if (op.length > kEagerBytesMax) return false;
  const bool received = receive_at_once(link, op);
  if (link.wants_to_send())
    line_up(link);  // what came before it may want an answer, and it gives credit back
  return received;
}

// What lies before the message is taken first.
bool StreamTransport::receive_at_once(Link& link, const WireOp& op) {
  for (Stream& stream : link.streams) {
    stream.pipe.look_again();
    if (stream.receiver.take_next(op)) return true;
    if (link.status.ok() && !stream.ended && stream.receiver.has_bytes()) receive(link, stream);
  }
  return link.status.ok() && matcher_.take_arrived(op, link.sender);
}

// Bounded by turns and by bytes a turn; whoever has more to do goes to the end of the line.
std::size_t StreamTransport::poll(std::span<Completion> completions) {
  const std::size_t enough = std::max<std::size_t>(completions.size(), kCompletionsPerPollMax);
  take_turns(enough);  // first what has been posted: asking for news may cost a system call
  hear_news();
  take_turns(enough);
  return ledger_.take(completions);
}

void StreamTransport::take_turns(std::size_t enough) {
  for (std::size_t turns = std::min(line_.size(), kTurnsPerPoll); turns > 0 && ledger_.ended() < enough;
       --turns)
    take_turn(*line_.pop());
}

void StreamTransport::hear_news() {
  const std::size_t count = pipes_->ready(news_);
  for (const Rank peer : std::span(news_).first(count)) {
    Link& link = link_to(peer);
    for (Stream& stream : link.streams) {
      if (!link.status.ok() || stream.ended) {
        discard(stream.pipe);
        continue;
      }
      stream.readable = true;
      stream.outlet.unblock();
    }
    line_up(link);
  }
}

// What was posted goes out before anything else is looked at; what the received frames ask for goes out
// after.
void StreamTransport::take_turn(Link& link) {
  link.in_line = false;
  send(link);
  for (Stream& stream : link.streams) {
    if (!stream.pipe.status().ok()) stream.readable = !stream.ended;  // the write may have found out
    if (stream.readable) receive(link, stream);
    if (!link.status.ok()) return;
  }
  send(link);
  if (link.readable() || link.wants_to_send()) line_up(link);
}

// A stream that is full leaves the next fragment to the next one, so the fast carry more than the slow.
void StreamTransport::send(Link& link) {
  for (Stream& stream : link.streams) stream.outlet.turn(kBytesPerTurn);
}

void StreamTransport::receive(Link& link, Stream& stream) {
  // Asked first: bytes that arrived before the pipe broke are still there afterwards.
  const Status pipe_status = stream.pipe.status();
  const Expected<bool> more = stream.receiver.turn(kBytesPerTurn);
  if (!more.ok())
    return lose(link, Status(more.status().code(),
                             fmt::format("rank {} sent {}", link.peer, more.status().message())));
  stream.readable = *more;
  if (*more) return;
  if (!pipe_status.ok()) return end(link, stream, pipe_status);
  stream.readable = !stream.pipe.status().ok();  // broke in between: once more
}

// What has arrived in the other streams still counts, so the peer is lost with the last of them. Ours are
// closed: a peer that lives hears of it, and closes its own.
void StreamTransport::end(Link& link, Stream& stream, Status reason) {
  stream.ended = true;
  const bool first = link.first_end.ok();
  if (first) link.first_end = std::move(reason);
  bool all = true;
  for (Stream& other : link.streams) {
    if (first && !other.ended) other.pipe.close();
    all = all && other.ended;
  }
  if (all) lose(link, link.first_end);
}

void StreamTransport::lose(Link& link, Status reason) {
  link.status = std::move(reason);
  link.sender.clear();
  for (Stream& stream : link.streams) {
    stream.readable = false;
    stream.outlet.clear();
  }
  matcher_.lose(link.peer, link.sender);
}

void StreamTransport::cancel(const CancelScope& scope) {
  for (Link& link : links_) {
    for (Stream& stream : link.streams) stream.outlet.rescue(link.peer, scope);
    link.sender.cancel(link.peer, scope);
  }
  matcher_.cancel(scope, [this](Rank peer) -> Sender& { return link_to(peer).sender; });
  for (Link& link : links_) {
    if (link.wants_to_send()) line_up(link);  // it may owe enough credit now
  }
}

}  // namespace

std::unique_ptr<Transport> make_stream_transport(std::unique_ptr<PipeSet> pipes, Listener& listener) {
  return std::make_unique<StreamTransport>(std::move(pipes), listener);
}

}  // namespace strata
