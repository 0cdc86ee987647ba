#include "tests/transport/shm_tcp_laws.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <cstring>
#include <random>

namespace strata::test {
namespace {

constexpr int kWakeUpMs = 20'000;  // far beyond any real wake-up: reached only if one was lost

// The byte at a place of the stream of a pair: both ends know it without talking.
class Pattern {
 public:
  Pattern(std::uint64_t seed, int from, int to)
      : key_(seed * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(from * 1000 + to)) {}
  void fill(std::uint64_t at, std::span<std::byte> bytes) const {
    for (std::byte& b : bytes) b = this->at(at++);
  }
  bool matches(std::uint64_t at, std::span<const std::byte> bytes) const {
    return std::all_of(bytes.begin(), bytes.end(), [&](std::byte b) { return b == this->at(at++); });
  }

 private:
  std::byte at(std::uint64_t i) const {
    std::uint64_t x = (i >> 3) + key_;
    x ^= x >> 31;
    x *= 0xbf58476d1ce4e5b9u;
    return static_cast<std::byte>(x >> (8 * (i & 7)));
  }
  std::uint64_t key_;
};

// Both directions of one pair, as seen by one rank.
class Stream {
 public:
  Stream(Pipe& pipe, std::uint64_t seed, int me, int peer, std::uint64_t bytes)
      : pipe_(pipe),
        out_(seed, me, peer),
        in_(seed, peer, me),
        random_(seed + static_cast<std::uint64_t>(me * 64 + peer)),
        bytes_(bytes) {}
  bool done() const { return sent_ == bytes_ && received_ == bytes_; }

  // Goes on until neither direction moves; says what is wrong.
  std::string advance() {
    for (bool moved = true; moved;) {
      moved = send();
      const std::uint64_t before = received_;
      if (!receive()) return fmt::format("wrong byte near {} of {}", received_, bytes_);
      moved = moved || received_ != before;
    }
    return done() || pipe_.status().ok() ? "" : std::string(pipe_.status().message());
  }

 private:
  // Mostly small, sometimes larger than any ring or buffer.
  std::size_t some() {
    const std::size_t most[] = {3, 64, 5000, 300'000};
    return 1 + random_() % most[random_() % 4];
  }
  bool send() {
    std::array<std::vector<std::byte>, 3> texts;
    std::array<iovec, 3> parts;
    std::uint64_t at = sent_;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      // Parts may be empty, but not the whole: a write of nothing is never short, so no news would follow it.
      const std::size_t least = i == 0 ? 1 : 0;
      texts[i].resize(std::min<std::uint64_t>(some() - 1 + least, bytes_ - at));
      out_.fill(at, texts[i]);
      at += texts[i].size();
      parts[i] = {texts[i].data(), texts[i].size()};
    }
    const std::size_t written = pipe_.write(parts);
    sent_ += written;
    return written > 0;
  }
  bool receive() {
    if (random_() % 2 == 0) {
      const std::span<const std::byte> run = pipe_.peek();
      const std::span<const std::byte> taken = run.first(std::min(run.size(), some()));
      const bool right = in_.matches(received_, taken);
      pipe_.consume(taken.size());
      received_ += taken.size();
      return right;
    }
    std::vector<std::byte> into(some());
    const std::size_t got = pipe_.read(into);
    const bool right = in_.matches(received_, std::span(into).first(got));
    received_ += got;
    return right && received_ <= bytes_;
  }

  Pipe& pipe_;
  Pattern out_, in_;
  std::minstd_rand random_;
  std::uint64_t bytes_, sent_ = 0, received_ = 0;
};

// Sleeps as an engine does. False: no wake-up came.
bool sleep_until_news(PipeSet& pipes) {
  if (!pipes.prepare_to_sleep()) return true;
  pollfd waited{pipes.wait_descriptor(), POLLIN, 0};
  const int ready = ::poll(&waited, 1, kWakeUpMs);
  pipes.woke_up();
  return ready != 0;
}

Body streams_body(int size, std::uint64_t seed, std::uint64_t bytes) {
  return [=](int me, PipeSet& pipes) -> std::string {
    std::vector<std::unique_ptr<Stream>> streams(static_cast<std::size_t>(size));
    for (const Rank peer : pipes.peers())
      streams[static_cast<std::size_t>(peer)] =
          std::make_unique<Stream>(pipes.pipe(peer), seed, me, peer, bytes);
    std::vector<Rank> news(pipes.peers().begin(), pipes.peers().end());
    std::size_t count = news.size();  // at first everyone may be written to
    for (;;) {
      for (const Rank peer : std::span(news).first(count))
        if (std::string wrong = streams[static_cast<std::size_t>(peer)]->advance(); !wrong.empty())
          return fmt::format("from rank {}: {}", peer, wrong);
      if (std::all_of(streams.begin(), streams.end(), [](const auto& s) { return !s || s->done(); }))
        return "";
      count = pipes.ready(std::span(news).first(1 + seed % news.size()));
      if (count == 0 && !sleep_until_news(pipes)) return "no wake-up came";
    }
  };
}

std::ptrdiff_t inherited_descriptors() {
  const std::vector<int> all = open_descriptors();
  return std::count_if(all.begin(), all.end(),
                       [](int fd) { return (::fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0; });
}

}  // namespace

void check_streams(const PipeKind& kind, int size, std::uint64_t seed, std::uint64_t bytes) {
  INFO(kind.name << ", " << size << " ranks, seed " << seed);
  run_threads(kind, size, streams_body(size, seed, bytes));
}

void check_streams_between_processes(const PipeKind& kind, std::uint64_t seed, std::uint64_t bytes) {
  INFO(kind.name << ", seed " << seed);
  CHECK(run_processes(kind, streams_body(2, seed, bytes)) == 0);
}

namespace {

// Polls a random while, so that the sleep begins at every possible moment of the peer's doings.
std::string wait_for_news(PipeSet& pipes, std::minstd_rand& random) {
  Rank who;
  for (auto spins = random() % 300; spins > 0; --spins)
    if (pipes.ready({&who, 1}) != 0) return "";
  while (pipes.ready({&who, 1}) == 0)
    if (!sleep_until_news(pipes)) return "no wake-up came";
  return "";
}

std::string ping_pong(Pipe& pipe, PipeSet& pipes, bool first, int rounds, std::minstd_rand& random) {
  std::byte token{1};
  const iovec part{&token, 1};
  for (int round = 0; round < rounds; ++round) {
    if (first && pipe.write({&part, 1}) != 1) return "a byte did not fit";
    for (;;) {
      const Status status = pipe.status();  // before reading: what arrived before the end is there after it
      if (pipe.read({&token, 1}) == 1) break;
      if (!status.ok()) return std::string(status.message());
      if (std::string wrong = wait_for_news(pipes, random); !wrong.empty()) return wrong;
    }
    if (!first && pipe.write({&part, 1}) != 1) return "a byte did not fit";
  }
  return "";
}

// Tiny messages as fast as they go, so that rings fill up and run empty.
std::string flood(Pipe& pipe, PipeSet& pipes, bool writer, std::uint64_t bytes, std::minstd_rand& random) {
  std::array<std::byte, 16> message{};
  for (std::uint64_t moved = 0; moved < bytes;) {
    const std::size_t most = std::min<std::uint64_t>(1 + random() % message.size(), bytes - moved);
    const iovec part{message.data(), most};
    const std::size_t count = writer ? pipe.write({&part, 1}) : pipe.read({message.data(), most});
    moved += count;
    if (writer ? count == most : count > 0) continue;
    if (std::string wrong = wait_for_news(pipes, random); !wrong.empty()) return wrong;
  }
  return "";
}

}  // namespace

void check_wake_ups(const PipeKind& kind, std::uint64_t seed, int rounds, std::uint64_t bytes) {
  INFO(kind.name << ", seed " << seed);
  run_threads(kind, 2, [=](int me, PipeSet& pipes) {
    std::minstd_rand random(static_cast<unsigned>(seed + static_cast<std::uint64_t>(me)));
    Pipe& pipe = pipes.pipe(1 - me);
    std::string wrong = ping_pong(pipe, pipes, me == 0, rounds, random);
    for (const int writer : {0, 1})
      if (wrong.empty()) wrong = flood(pipe, pipes, me == writer, bytes, random);
    // Nobody ends the pipes while the other still reads.
    return wrong.empty() ? ping_pong(pipe, pipes, me == 0, 1, random) : wrong;
  });
}

namespace {

constexpr std::size_t kLastWords = 1000;

// A pipe that keeps a process alive that reads it, as long as somebody else can write to it.
struct Lifeline {
  Fd read_end, write_end;
};
Lifeline make_lifeline() {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  return {Fd(ends[0]), Fd(ends[1])};
}

[[noreturn]] void die_with_last_words(Pipe& pipe, Lifeline& lifeline, bool with_child) {
  lifeline.write_end.reset();
  if (with_child && ::fork() == 0) {  // holds copies of all the descriptors of its parent, and outlives it
    char never;
    [[maybe_unused]] const ssize_t end = ::read(lifeline.read_end.get(), &never, 1);
    ::_exit(0);
  }
  const std::vector<std::byte> words(kLastWords, std::byte{7});
  const iovec part{const_cast<std::byte*>(words.data()), words.size()};
  if (pipe.write({&part, 1}) != kLastWords) ::_exit(1);
  ::raise(SIGKILL);
  ::_exit(2);
}

std::string hear_death(PipeSet& pipes) {
  Pipe& pipe = pipes.pipe(1);
  std::size_t heard = 0;
  Rank who;
  for (;;) {
    const Status status = pipe.status();  // before reading: what arrived before the end is there after it
    std::array<std::byte, 64> some;
    while (const std::size_t got = pipe.read(some)) heard += got;
    if (!status.ok()) {
      if (heard != kLastWords) return fmt::format("heard {} of {} last bytes", heard, kLastWords);
      if (status.code() != ErrorCode::peer_lost) return "wrong code";
      return status.message().find("rank 1") != std::string_view::npos ? "" : std::string(status.message());
    }
    while (pipes.ready({&who, 1}) == 0)
      if (!sleep_until_news(pipes)) return "its death went unnoticed";
  }
}

}  // namespace

void check_death(const PipeKind& kind, bool peer_has_child) {
  INFO(kind.name << (peer_has_child ? ", the peer has a child" : ""));
  Lifeline lifeline = make_lifeline();
  const int status = run_processes(kind, [&, peer_has_child](int me, PipeSet& pipes) {
    if (me == 1) die_with_last_words(pipes.pipe(0), lifeline, peer_has_child);
    return hear_death(pipes);
  });
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGKILL);
}

void check_goodbye(const PipeKind& kind) {
  INFO(kind.name);
  run_threads(kind, 2, [](int me, PipeSet& pipes) -> std::string {
    if (me == 1) {
      const std::vector<std::byte> words(kLastWords, std::byte{7});
      const iovec part{const_cast<std::byte*>(words.data()), words.size()};
      return pipes.pipe(0).write({&part, 1}) == kLastWords ? "" : "the last words did not fit";
    }
    return hear_death(pipes);
  });
}

void check_no_descriptor_is_left(const PipeKind& kind) {
  INFO(kind.name);
  const std::vector<int> before = open_descriptors();
  const std::ptrdiff_t inherited = inherited_descriptors();
  std::barrier<> all_are_connected(4);
  run_threads(kind, 4, [&](int me, PipeSet& pipes) -> std::string {
    all_are_connected.arrive_and_wait();
    const std::ptrdiff_t now = inherited_descriptors();
    const std::string wrong = streams_body(4, 1, 1000)(me, pipes);
    return wrong.empty() && now != inherited ? fmt::format("{} descriptors are inherited", now - inherited)
                                             : wrong;
  });
  CHECK(open_descriptors() == before);
}

void check_wrong_key(const PipeKind& kind) {
  INFO(kind.name);
  const std::vector<int> before = open_descriptors();
  LocalExchangeHub hub(2, 1'000);
  std::array<Status, 2> statuses;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      LocalExchange exchange(hub, rank, rank == 0 ? kSessionKey : "another key, also of 32 bytes....");
      const std::unique_ptr<PipeMaker> maker = kind.make();
      statuses[static_cast<std::size_t>(rank)] = connect_all(*maker, exchange).status();
    });
  for (std::thread& t : threads) t.join();
  CHECK(statuses[0].code() == ErrorCode::unauthenticated);
  CHECK(std::string(statuses[0].message()).find("rank 1") != std::string::npos);
  CHECK(statuses[1].code() == ErrorCode::timeout);
  CHECK(std::string(statuses[1].message()).find("rank") != std::string::npos);
  CHECK(open_descriptors() == before);
}

}  // namespace strata::test
