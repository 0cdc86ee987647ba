// Whoever else connects neither stalls nor fails the rendezvous, at either side.
#include <catch2/catch.hpp>
#include <random>

#include "ccl/bootstrap/rendezvous_resolve.hpp"
#include "ccl/bootstrap/rendezvous_secret.hpp"
#include "tests/bootstrap/captured_log.hpp"
#include "tests/bootstrap/ranks.hpp"

using namespace strata;
using namespace strata::test;

namespace {

rendezvous::SocketAddress address_of(const std::string& text) {
  return rendezvous::resolve(*parse_rendezvous(text))->front();
}

// Connects as soon as somebody listens.
Fd connect_to(const std::string& text) {
  const auto address = address_of(text);
  for (;;) {
    Fd fd(::socket(address.family(), SOCK_STREAM, 0));
    if (::connect(fd.get(), address.get(), address.length) == 0) return fd;
    std::this_thread::yield();
  }
}

Fd listen_to(const std::string& text) {
  const auto address = address_of(text);
  Fd fd(::socket(address.family(), SOCK_STREAM, 0));
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  REQUIRE(::bind(fd.get(), address.get(), address.length) == 0);
  REQUIRE(::listen(fd.get(), 8) == 0);
  return fd;
}

void say(const Fd& fd, const std::string& bytes) {
  (void)!::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

std::string hear(const Fd& fd, std::size_t bytes) {
  std::string text(bytes, '\0');
  const ssize_t n = ::recv(fd.get(), text.data(), bytes, MSG_WAITALL);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return text;
}

rendezvous::Message hear_message(const Fd& fd) {
  const std::uint32_t length = rendezvous::frame_length(hear(fd, rendezvous::kLengthBytes));
  return *rendezvous::decode(hear(fd, length));
}

std::string random_bytes(std::mt19937& random, std::size_t most) {
  std::string bytes(random() % most, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

}  // namespace

TEST_CASE("ranks meet among strangers that send anything, nothing, half of it, or too much") {
  const unsigned seed = GENERATE(11u, 12u, 13u);
  CAPTURE(seed);
  std::mt19937 random(seed);
  const TemporaryFolder folder;
  const CapturedLog log;
  const std::size_t descriptors = open_descriptors();
  for (const std::string& address : {folder.path("meet"), free_address()}) {
    CAPTURE(address);
    std::vector<Status> statuses(2);
    std::thread server([&] { statuses[0] = join(options_of(0, 2, address)).status(); });
    std::vector<Fd> strangers;
    for (int i = 0; i < 400; ++i) {  // more than may prove nothing at a time
      strangers.push_back(connect_to(address));
      std::string bytes = random_bytes(random, 5000);
      if (i % 4 == 0) bytes.clear();
      if (i % 4 == 1) bytes = std::string("\x10\x00\x00\x00\x01", 5) + bytes.substr(0, bytes.size() % 16);
      if (i % 4 == 2) bytes = std::string("\xff\xff\xff\xff", 4) + bytes;
      say(strangers.back(), bytes);
      if (i % 7 == 0) strangers.back().reset();
    }
    statuses[1] = join(options_of(1, 2, address)).status();
    server.join();
    CHECK(statuses[0].message() == "");
    CHECK(statuses[1].message() == "");
  }
  CHECK(log.has("further ones are not logged"));
  CHECK(open_descriptors() == descriptors);
}

TEST_CASE("a connection that proves nothing is closed in time") {
  const CapturedLog log;
  const std::string address = free_address();
  auto settings = rendezvous::settings_from(options_of(0, 2, address));
  settings.handshake_max = std::chrono::milliseconds(20);
  Status status;
  std::thread server([&] { status = join_with(settings).status(); });
  const Fd silent = connect_to(address);
  CHECK(std::holds_alternative<rendezvous::Challenge>(hear_message(silent)));
  CHECK(hear(silent, 1).empty());  // returns when the server closes
  CHECK(join(options_of(1, 2, address)).ok());
  server.join();
  CHECK(status.ok());
  CHECK(log.has("it proved nothing within 20 ms"));
}

TEST_CASE("what is recorded of one connection is of no use at another") {
  const CapturedLog log;
  const std::string address = free_address();
  const auto introduction = rendezvous::to_json(rendezvous::introduce(1, 2, 1000));
  std::thread server([&] { join(options_of(0, 2, address)).status().ok(); });
  const Fd first = connect_to(address), second = connect_to(address);
  rendezvous::Nonces nonces{std::get<rendezvous::Challenge>(hear_message(first)).nonce, {}};
  const std::string secret = options_of(0, 1, "").secret;
  const rendezvous::Hello recorded{nonces.client, rendezvous::client_proof(secret, nonces, introduction),
                                   introduction};
  hear_message(second);
  say(second, rendezvous::encode(recorded));
  CHECK(std::get<rendezvous::Failure>(hear_message(second)).code == ErrorCode::unauthenticated);
  rendezvous::Hello altered = recorded;
  altered.introduction.back() = ' ';
  say(first, rendezvous::encode(altered));
  CHECK(std::get<rendezvous::Failure>(hear_message(first)).code == ErrorCode::unauthenticated);
  CHECK(join(options_of(1, 2, address)).ok());
  server.join();
}

TEST_CASE("a rank waits on when something else answers at the address, until rank 0 comes") {
  const CapturedLog log;
  const std::string address = free_address();
  std::vector<Status> statuses(2);
  std::thread client;
  {
    const Fd other = listen_to(address);
    client = std::thread([&] { statuses[1] = join(options_of(1, 2, address)).status(); });
    for (const char* answer : {"", "HTTP/1.0 400 Bad Request\r\n\r\n", "\x01", "\x05\0\0\0\x09zzzz"}) {
      const Fd connection(::accept(other.get(), nullptr, nullptr));
      say(connection, answer);
    }
  }
  statuses[0] = join(options_of(0, 2, address)).status();
  client.join();
  CHECK(statuses[0].message() == "");
  CHECK(statuses[1].message() == "");
}

TEST_CASE("who listens without knowing the secret is found out, also when it sends back what it got") {
  const CapturedLog log;
  const std::string address = free_address();
  Status status;
  std::thread client;
  const Fd impostor = listen_to(address);
  client = std::thread([&] { status = join(options_of(1, 2, address)).status(); });
  const Fd connection(::accept(impostor.get(), nullptr, nullptr));
  say(connection, rendezvous::encode(rendezvous::Challenge{}));
  const auto hello = std::get<rendezvous::Hello>(hear_message(connection));
  say(connection, rendezvous::encode(rendezvous::Welcome{hello.proof, hello.introduction}));
  client.join();
  CHECK(status.code() == ErrorCode::unauthenticated);
  CHECK(says(status, "does not know the job's secret"));
  CHECK(log.has("does not know the job's secret"));
}
