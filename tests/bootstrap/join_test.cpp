// Ranks meet, whatever their number, order, address and secret, and exchange whatever they like.
#include <algorithm>
#include <catch2/catch.hpp>
#include <mutex>
#include <random>

#include "ccl/bootstrap/rendezvous_messages.hpp"
#include "tests/bootstrap/ranks.hpp"

using namespace strata;
using namespace strata::test;

namespace {

// Catch2's assertions are not thread-safe: ranks note what is wrong, the test checks that it is nothing.
class Complaints {
 public:
  void add(const std::string& text) {
    const std::scoped_lock lock(mutex_);
    text_ += text + "\n";
  }
  void unless(bool fine, const std::string& text) {
    if (!fine) add(text);
  }
  const std::string& text() const { return text_; }

 private:
  std::mutex mutex_;
  std::string text_;
};

std::string part_of(int rank, int round, std::size_t bytes) {
  std::string part(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i)
    part[i] = static_cast<char>(i * 7 + static_cast<std::size_t>(rank * 31 + round));
  return part;
}

void exchange_rounds(Exchange& exchange, const std::vector<std::size_t>& bytes, Complaints& wrong) {
  for (int round = 0; round < static_cast<int>(bytes.size()); ++round) {
    const std::size_t n = bytes[static_cast<std::size_t>(round)];
    const auto all = exchange.all_gather(part_of(exchange.rank(), round, n));
    if (!all) return wrong.add(std::string(all.status().message()));
    wrong.unless(all->size() == static_cast<std::size_t>(exchange.size()), "wrong number of parts");
    for (int rank = 0; rank < exchange.size(); ++rank)
      wrong.unless((*all)[static_cast<std::size_t>(rank)] == part_of(rank, round, n), "wrong part");
  }
}

void check_meeting(const std::string& address, int size, const std::vector<int>& order,
                   const std::string& secret, const std::vector<std::size_t>& bytes) {
  Complaints wrong;
  std::vector<std::string> keys(static_cast<std::size_t>(size));
  in_threads(order, [&](int rank) {
    CommunicatorOptions options = options_of(rank, size, address);
    options.secret = secret;
    auto exchange = join(options);
    if (!exchange) return wrong.add(std::string(exchange.status().message()));
    wrong.unless((*exchange)->rank() == rank && (*exchange)->size() == size, "wrong place");
    wrong.unless((*exchange)->milliseconds_left() > 0, "no time left");
    keys[static_cast<std::size_t>(rank)] = (*exchange)->session_key();
    exchange_rounds(**exchange, bytes, wrong);
  });
  CHECK(wrong.text() == "");
  CHECK(keys[0].size() == 32);
  CHECK(std::count(keys.begin(), keys.end(), keys[0]) == size);
}

}  // namespace

TEST_CASE("ranks meet in every order of start") {
  const TemporaryFolder folder;
  for (int size = 1; size <= 4; ++size) {
    std::vector<int> order = up_to(size);
    do check_meeting(folder.path("meet"), size, order, "s", {1});
    while (std::next_permutation(order.begin(), order.end()));
  }
  CHECK(folder.empty());
}

TEST_CASE("ranks meet at paths and at IPv4 and IPv6 addresses, with and without a secret") {
  const TemporaryFolder folder;
  const unsigned seed = GENERATE(1u, 2u, 3u);
  CAPTURE(seed);
  std::mt19937 random(seed);
  const std::size_t descriptors = open_descriptors();
  const std::string port4 = std::to_string(free_port()), port6 = std::to_string(free_port(AF_INET6));
  for (const std::string& address :
       {folder.path("meet"), "127.0.0.1:" + port4, "localhost:" + port4, "[::1]:" + port6})
    for (const char* secret : {"", "a secret"}) {
      CAPTURE(address, secret);
      std::vector<int> order = up_to(2 + static_cast<int>(random() % 8));
      std::shuffle(order.begin(), order.end(), random);
      check_meeting(address, static_cast<int>(order.size()), order, secret, {3, 0, 1000});
    }
  CHECK(open_descriptors() == descriptors);
  CHECK(folder.empty());
}

TEST_CASE("parts that fill many frames, and one that is too large") {
  const TemporaryFolder folder;
  check_meeting(folder.path("meet"), 5, up_to(5), "s", {1'500'000, 0, 1, rendezvous::kContributionBytesMax});
  in_threads(up_to(2), [&](int rank) {
    auto exchange = join(options_of(rank, 2, folder.path("meet")));
    if (!exchange) return;
    const auto all = (*exchange)->all_gather(std::string(rendezvous::kContributionBytesMax + 1, 'x'));
    if (all.ok() || all.status().code() != ErrorCode::invalid_argument) std::abort();
  });
}

TEST_CASE("many jobs of one process, at once and one after another, at one address each") {
  const TemporaryFolder folder;
  const std::size_t descriptors = open_descriptors();
  Complaints wrong;
  in_threads(up_to(12), [&](int index) {
    const int job = index % 4, rank = index / 4;
    for (int round = 0; round < 10; ++round) {
      auto exchange = join(options_of(rank, 3, folder.path("job" + std::to_string(job))));
      if (!exchange) return wrong.add(std::string(exchange.status().message()));
      exchange_rounds(**exchange, {10}, wrong);
    }
  });
  CHECK(wrong.text() == "");
  CHECK(open_descriptors() == descriptors);
  CHECK(folder.empty());
}

TEST_CASE("one rank meets nobody and opens nothing") {
  const std::size_t descriptors = open_descriptors();
  auto first = join(options_of(0, 1, "")), second = join(options_of(0, 1, ""));
  REQUIRE(first.ok());
  CHECK(open_descriptors() == descriptors);
  CHECK((*first)->session_key().size() == 32);
  CHECK((*first)->session_key() != (*second)->session_key());
  CHECK(*(*first)->all_gather("x") == std::vector<std::string>{"x"});
}
