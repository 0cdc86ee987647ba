// Pipes of any kind between the ranks of a test: threads of this process, or this process and one it forks.
#pragma once
#include <fcntl.h>
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ccl/transport/pipe.hpp"
#include "tests/support/local_exchange.hpp"

namespace strata::test {

// tcp::TcpPipes and shm::ShmPipes behind one face.
class PipeMaker {
 public:
  virtual ~PipeMaker() = default;
  virtual Expected<std::string> descriptor() = 0;
  virtual Expected<std::unique_ptr<PipeSet>> connect(Exchange& exchange,
                                                     std::span<const std::string> descriptors,
                                                     std::span<const Rank> peers) = 0;
};

template <class Pipes>
class PipeMakerOf final : public PipeMaker {
 public:
  template <class Options>
  explicit PipeMakerOf(const Options& options) : pipes_(options) {}
  Expected<std::string> descriptor() override { return pipes_.descriptor(); }
  Expected<std::unique_ptr<PipeSet>> connect(Exchange& exchange, std::span<const std::string> descriptors,
                                             std::span<const Rank> peers) override {
    return pipes_.connect(exchange, descriptors, peers);
  }

 private:
  Pipes pipes_;
};

// One kind of pipes with its options.
struct PipeKind {
  std::string name;
  std::function<std::unique_ptr<PipeMaker>()> make;
};

inline std::vector<Rank> all_but(int rank, int size) {
  std::vector<Rank> peers;
  for (int r = 0; r < size; ++r)
    if (r != rank) peers.push_back(r);
  return peers;
}

inline Expected<std::unique_ptr<PipeSet>> connect_all(PipeMaker& maker, Exchange& exchange) {
  const Expected<std::string> mine = maker.descriptor();
  const Expected<std::vector<std::string>> all = exchange.all_gather(mine ? *mine : std::string());
  if (!mine) return mine.status();
  if (!all) return all.status();
  return maker.connect(exchange, *all, all_but(exchange.rank(), exchange.size()));
}

inline std::vector<int> open_descriptors() {
  std::vector<int> all;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    all.push_back(std::stoi(entry.path().filename()));
  std::erase_if(all, [](int fd) { return ::fcntl(fd, F_GETFD) < 0; });  // the directory's own
  return all;
}

// What a rank of a test does; returns what went wrong, or nothing. (Catch2 must be spoken to by one thread.)
using Body = std::function<std::string(int rank, PipeSet& pipes)>;

inline std::string run_rank(const PipeKind& kind, Exchange& exchange, const Body& body) {
  const std::unique_ptr<PipeMaker> maker = kind.make();
  Expected<std::unique_ptr<PipeSet>> pipes = connect_all(*maker, exchange);
  if (!pipes) return std::string(pipes.status().message());
  return body(exchange.rank(), **pipes);
}

inline void run_threads(const PipeKind& kind, int size, const Body& body) {
  LocalExchangeHub hub(size);
  std::vector<std::string> failures(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      LocalExchange exchange(hub, rank);
      failures[static_cast<std::size_t>(rank)] = run_rank(kind, exchange, body);
    });
  for (std::thread& t : threads) t.join();
  for (const std::string& failure : failures) CHECK(failure == "");
}

// Rank 1 is a child process. Returns its wait status; rank 0's failure is checked here.
inline int run_processes(const PipeKind& kind, const Body& body) {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  Fd here(ends[0]), there(ends[1]);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    here.reset();
    SocketExchange exchange(std::move(there), 1);
    const std::string failure = run_rank(kind, exchange, body);
    if (!failure.empty()) std::fprintf(stderr, "rank 1: %s\n", failure.c_str());
    ::_exit(failure.empty() ? 0 : 1);
  }
  there.reset();
  SocketExchange exchange(std::move(here), 0);
  CHECK(run_rank(kind, exchange, body) == "");
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

}  // namespace strata::test
