// What connections between hosts may have under way: the rule, against a model of a shared queue, and that
// pipes keep to it and lose no wake-up by it.
#include <arpa/inet.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <random>

#include "ccl/transport/tcp/credit.hpp"
#include "ccl/transport/tcp/tcp_pipe_set.hpp"

namespace strata::tcp {
namespace {

// Connections that always have more to send, through one queue.
struct Path {
  double bytes_per_us, empty_us;
  std::vector<Credit> credits;

  double under_way() const {
    return std::accumulate(credits.begin(), credits.end(), 0.0,
                           [](double sum, const Credit& c) { return sum + static_cast<double>(c.bytes()); });
  }
  double rtt_us() const { return std::max(empty_us, under_way() / bytes_per_us); }
  double queue_us() const { return rtt_us() - empty_us; }
  void update(int times) {
    for (; times > 0; --times)
      for (Credit& credit : credits)
        credit.update({credit.bytes(), static_cast<std::uint32_t>(std::lround(rtt_us())),
                       static_cast<std::uint32_t>(std::lround(empty_us))});
  }
  bool busy() const { return under_way() >= bytes_per_us * empty_us; }
  bool at_least() const {
    return std::all_of(credits.begin(), credits.end(),
                       [](const Credit& c) { return c.bytes() == Credit::kBytesMin; });
  }
};

void check_settled(const Path& path) {
  CAPTURE(path.bytes_per_us, path.empty_us, path.credits.size(), path.queue_us());
  CHECK(path.busy());
  CHECK((path.at_least() || path.queue_us() <= Credit::kQueueUsMax * 1.02));
  CHECK((path.under_way() >= path.bytes_per_us * Credit::kQueueUsMin * 0.98 || path.at_least()));
}

}  // namespace

TEST_CASE("the credit settles within 20 updates, and again after each change of the rate") {
  for (const std::size_t connections : {1u, 2u, 3u, 16u})
    for (const double empty_us : {10.0, 100.0, 1'000.0, 20'000.0}) {
      Path path{25, empty_us, std::vector<Credit>(connections, Credit({}))};
      for (const double mbit : {200.0, 1'000.0, 50.0, 10'000.0, 25'000.0, 200.0}) {
        path.bytes_per_us = mbit / 8;
        path.update(20);
        const double settled = path.under_way();
        check_settled(path);
        path.update(40);
        CHECK(std::abs(path.under_way() - settled) <= 0.02 * path.under_way());
      }
    }
}

TEST_CASE("connections that share a queue come to equal credits") {
  Path path{25, 50, {}};
  for (const std::size_t bytes : {280u << 10, 64u << 10, 20u << 10}) {
    Credit credit({});
    while (credit.bytes() + 2048 < bytes) credit.update({credit.bytes(), 1, 10'000});
    for (int i = 0; i < 20 && credit.bytes() > bytes + 2048; ++i) credit.update({bytes, 1'000'000, 1});
    path.credits.push_back(credit);
  }
  REQUIRE(path.credits[0].bytes() > 2 * path.credits[1].bytes());
  path.update(20);
  const auto [least, most] =
      std::minmax_element(path.credits.begin(), path.credits.end(),
                          [](const Credit& a, const Credit& b) { return a.bytes() < b.bytes(); });
  CHECK(static_cast<double>(most->bytes()) <= 1.05 * static_cast<double>(least->bytes()));
}

TEST_CASE("fragments are a part of the credit, and hold whole elements") {
  std::mt19937 random(1);
  Credit credit({});
  for (int i = 0; i < 10'000; ++i) {
    credit.update({credit.bytes(), static_cast<std::uint32_t>(1 + random() % 10'000),
                   static_cast<std::uint32_t>(random() % 5'000)});
    REQUIRE(credit.bytes() >= Credit::kBytesMin);
    REQUIRE(credit.bytes() <= Credit::kBytesMax);
    REQUIRE(credit.fragment_bytes() % 16 == 0);
    REQUIRE(credit.fragment_bytes() >= Credit::kFragmentBytesMin);
    REQUIRE(credit.fragment_bytes() <= std::max(Credit::kFragmentBytesMin, credit.bytes() / 4));
  }
}

TEST_CASE("what is pinned stays; views that say nothing change nothing") {
  Credit pinned({.credit_bytes = 100'000, .fragment_bytes = 48'000});
  pinned.update({100'000, 50'000, 10});
  CHECK((pinned.bytes() == 100'000 && pinned.fragment_bytes() == 48'000));
  Credit tuned({});
  tuned.update({});
  CHECK(tuned.bytes() == Credit::kBytesFirst);
}

namespace {

// Two ends of a connection over the loopback, which are told that they are on two hosts.
std::vector<Fd> connected() {
  Fd listener(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof at;
  auto* address = reinterpret_cast<sockaddr*>(&at);
  REQUIRE(::bind(listener.get(), address, length) == 0);
  REQUIRE(::listen(listener.get(), 1) == 0);
  REQUIRE(::getsockname(listener.get(), address, &length) == 0);
  std::vector<Fd> ends;
  ends.emplace_back(::socket(AF_INET, SOCK_STREAM, 0));
  REQUIRE(::connect(ends[0].get(), address, length) == 0);
  ends.emplace_back(::accept(listener.get(), nullptr, nullptr));
  REQUIRE(ends[1].valid());
  return ends;
}

std::unique_ptr<PipeSet> pipes_over(Fd socket, const CreditPins& pins) {
  std::vector<Connection> connections;
  connections.push_back({.peer = 1, .socket = std::move(socket), .name = "the other end"});
  auto pipes = TcpPipeSet::create(std::move(connections), pins);
  REQUIRE(pipes.ok());
  return std::move(*pipes);
}

// Until it is ready; it has a minute, of which it needs nothing.
void wait_for(PipeSet& pipes) {
  std::array<Rank, 1> ready;
  while (pipes.ready(ready) == 0) {
    if (!pipes.prepare_to_sleep()) continue;
    pollfd wanted{pipes.wait_descriptor(), POLLIN, 0};
    REQUIRE(::poll(&wanted, 1, 60'000) == 1);
    pipes.woke_up();
  }
}

}  // namespace

TEST_CASE("no more than the credit is under way, and all of it arrives") {
  constexpr std::size_t kTotal = 8 << 20;
  for (const std::size_t credit : {std::size_t{0}, std::size_t{16 << 10}, std::size_t{100'000}}) {
    CAPTURE(credit);
    std::vector<Fd> ends = connected();
    const Fd other = std::move(ends[1]);
    const int here = ends[0].get();
    const auto pipes = pipes_over(std::move(ends[0]), {.credit_bytes = credit});
    Pipe& pipe = pipes->pipe(1);
    std::vector<std::byte> out(kTotal), in(kTotal);
    std::mt19937 random(7);
    for (std::byte& b : out) b = static_cast<std::byte>(random());
    std::size_t sent = 0, got = 0;
    while (got < kTotal) {
      while (sent < kTotal) {
        const std::size_t offered = std::min<std::size_t>(1 + random() % 40'000, kTotal - sent);
        iovec part{out.data() + sent, offered};
        const std::size_t taken = pipe.write({&part, 1});
        sent += taken;
        int under_way = 0;
        REQUIRE(::ioctl(here, SIOCOUTQ, &under_way) == 0);
        if (credit > 0) REQUIRE(static_cast<std::size_t>(under_way) <= credit);
        if (taken < offered) break;
      }
      const ssize_t count = ::recv(other.get(), in.data() + got, kTotal - got, 0);
      REQUIRE(count > 0);
      got += static_cast<std::size_t>(count);
      if (sent < kTotal) wait_for(*pipes);
    }
    CHECK(in == out);
  }
}

}  // namespace strata::tcp
