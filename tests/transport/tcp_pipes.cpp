// The pipes of TCP keep the laws of all pipes, over IPv4 and IPv6, and are disturbed by no stranger.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "ccl/base/network_interface.hpp"
#include "ccl/transport/tcp/listening.hpp"
#include "ccl/transport/tcp/tcp_descriptor.hpp"
#include "ccl/transport/tcp/tcp_pipes.hpp"
#include "tests/transport/shm_tcp_laws.hpp"

namespace strata::test {
namespace {

PipeKind tcp(const std::string& interface = "127.0.0.1") {
  return {"tcp on " + interface,
          [=] { return std::make_unique<PipeMakerOf<tcp::TcpPipes>>(TcpOptions{.interface = interface}); }};
}

bool has_ipv6_loopback() {
  const auto interfaces = list_network_interfaces();
  return interfaces && std::any_of(interfaces->begin(), interfaces->end(),
                                   [](const NetworkInterface& i) { return i.up && i.address == "::1"; });
}

}  // namespace

TEST_CASE("TCP carries every byte once and in order") {
  const std::uint64_t seed = GENERATE(1u, 2u);
  check_streams(tcp(), 2, seed, 3'000'000);
  check_streams(tcp(), 5, seed, 500'000);
}

TEST_CASE("TCP carries every byte over IPv6") {
  if (!has_ipv6_loopback()) {
    WARN("not run: this machine has no ::1");
    return;
  }
  check_streams(tcp("::1"), 3, 4, 500'000);
}

TEST_CASE("TCP carries every byte between processes") {
  check_streams_between_processes(tcp(), 5, 3'000'000);
}

TEST_CASE("TCP loses no wake-up") { check_wake_ups(tcp(), 6, 5'000, 500'000); }

TEST_CASE("TCP notices the death of a peer") {
  check_death(tcp(), false);
  check_goodbye(tcp());
}

TEST_CASE("TCP leaves no descriptor behind") { check_no_descriptor_is_left(tcp()); }

TEST_CASE("TCP refuses who does not have the session key") { check_wrong_key(tcp()); }

namespace {

// One who connects, says something that is not the protocol, and holds on.
Fd stranger(const tcp::Endpoint& to, std::span<const std::byte> says) {
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(to.port);
  ::inet_pton(AF_INET, to.address.c_str(), &address.sin_addr);
  REQUIRE(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::send(socket.get(), says.data(), says.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(says.size()));
  return socket;
}

std::vector<std::vector<std::byte>> things_strangers_say(std::uint64_t seed) {
  std::minstd_rand random(static_cast<unsigned>(seed));
  std::vector<std::vector<std::byte>> things(1);  // nothing at all
  for (const std::size_t length : {1u, 7u, 8u, 55u, 56u, 88u, 4000u}) {
    std::vector<std::byte> garbage(length), impostor(length);
    for (std::byte& b : garbage) b = static_cast<std::byte>(random());
    impostor = garbage;
    // A right greeting, right ranks and a connection that there is, and then no proof.
    const char hello[24] = {'s', 't', 'r', 't', 'c', 'p', '0', '3', 0, 0, 0, 0, 1, 0, 0, 0};
    std::memcpy(impostor.data(), hello, std::min(length, sizeof hello));
    things.push_back(std::move(garbage));
    things.push_back(std::move(impostor));
  }
  return things;
}

}  // namespace

TEST_CASE("strangers do not disturb the meeting of ranks") {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u);
  INFO("seed " << seed);
  LocalExchangeHub hub(2);
  std::vector<Fd> strangers;  // in the listeners' queues before any rank, and staying
  std::array<Status, 2> statuses;
  std::array<tcp::TcpPipes, 2> makers{tcp::TcpPipes(TcpOptions{.interface = "127.0.0.1"}),
                                      tcp::TcpPipes(TcpOptions{.interface = "127.0.0.1"})};
  std::vector<std::string> descriptors;
  for (tcp::TcpPipes& maker : makers) {
    const Expected<std::string> descriptor = maker.descriptor();
    REQUIRE(descriptor);
    descriptors.push_back(*descriptor);
    const Expected<tcp::TcpDescriptor> parsed = tcp::parse_tcp_descriptor(*descriptor);
    for (const tcp::Endpoint& endpoint : parsed->endpoints)
      for (const auto& thing : things_strangers_say(seed)) strangers.push_back(stranger(endpoint, thing));
  }
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      LocalExchange exchange(hub, rank);
      statuses[static_cast<std::size_t>(rank)] =
          makers[static_cast<std::size_t>(rank)].connect(exchange, descriptors, all_but(rank, 2)).status();
    });
  for (std::thread& t : threads) t.join();
  for (const Status& status : statuses) CHECK(status.message() == "");
}

TEST_CASE("a missing rank is named at the deadline") {
  LocalExchangeHub hub(2, 300);
  tcp::TcpPipes here(TcpOptions{.interface = "127.0.0.1"});
  const Expected<std::string> descriptor = here.descriptor();
  REQUIRE(descriptor);
  // Its port is taken by nobody: the other one has closed it again.
  std::string other;
  {
    tcp::TcpPipes there(TcpOptions{.interface = "127.0.0.1"});
    other = *there.descriptor();
  }
  const std::vector<std::string> descriptors{*descriptor, other};
  LocalExchange exchange(hub, 0);
  const Status status = here.connect(exchange, descriptors, std::vector<Rank>{1}).status();
  CHECK(status.code() == ErrorCode::timeout);
  const std::string message(status.message());
  CHECK(message.find("rank 1") != std::string::npos);
  CHECK(message.find(tcp::to_text(tcp::parse_tcp_descriptor(other)->endpoints[0])) != std::string::npos);
  CHECK(message.find("refused") != std::string::npos);
}

TEST_CASE("listening ports stay in their range, and an exhausted range is named") {
  constexpr int kPorts = 3;
  for (std::uint16_t first = 21'000; first < 32'000; first = static_cast<std::uint16_t>(first + kPorts)) {
    const auto last = static_cast<std::uint16_t>(first + kPorts - 1);
    std::vector<tcp::ListeningSocket> taken;
    for (int i = 0; i < kPorts; ++i)
      if (auto socket = tcp::listen_on("127.0.0.1", first, last)) taken.push_back(std::move(*socket));
    if (taken.size() < kPorts) continue;  // another program has one of them
    for (const tcp::ListeningSocket& t : taken) CHECK((t.endpoint.port >= first && t.endpoint.port <= last));
    tcp::TcpPipes pipes(TcpOptions{"127.0.0.1", first, last});
    const Expected<std::string> none = pipes.descriptor();
    REQUIRE(!none);
    CHECK(none.status().code() == ErrorCode::unavailable);
    for (const std::string& part : {std::to_string(first), std::to_string(last), std::string("127.0.0.1")})
      CHECK(std::string(none.status().message()).find(part) != std::string::npos);
    taken.pop_back();
    CHECK(pipes.descriptor());
    return;
  }
  FAIL("no free range of ports");
}

TEST_CASE("a port range must make sense") {
  for (const auto& [first, last] : {std::pair{10, 9}, std::pair{0, 9}}) {
    tcp::TcpPipes pipes(TcpOptions{"", static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(last)});
    CHECK(pipes.descriptor().status().code() == ErrorCode::invalid_argument);
  }
}

TEST_CASE("too many open files: the message names the limit") {
  rlimit saved{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &saved) == 0);
  rlimit low = saved;
  low.rlim_cur = 0;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
  const Status status = tcp::listen_on("127.0.0.1", 0, 0).status();
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &saved) == 0);
  INFO(status.message());
  CHECK(status.message().find("ulimit -n") != std::string_view::npos);
}

}  // namespace strata::test
