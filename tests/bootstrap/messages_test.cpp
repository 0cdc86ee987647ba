// Laws of the rendezvous' messages, and of the words about who is missing.
#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "ccl/bootstrap/rendezvous_introduction.hpp"
#include "ccl/bootstrap/rendezvous_messages.hpp"
#include "ccl/bootstrap/rendezvous_roll.hpp"
#include "ccl/bootstrap/rendezvous_secret.hpp"

using namespace strata;
using namespace strata::rendezvous;

namespace {

std::string random_bytes(std::mt19937& random, std::size_t most, bool text = false) {
  std::string bytes(random() % (most + 1), '\0');
  for (char& c : bytes) c = static_cast<char>(text ? ' ' + random() % 95 : random());
  return bytes;
}

template <std::size_t n>
void fill(std::mt19937& random, std::array<char, n>& bytes) {
  for (char& c : bytes) c = static_cast<char>(random());
}

std::vector<Message> one_of_each(std::mt19937& random) {
  Challenge challenge;
  Hello hello;
  Welcome welcome;
  Start start;
  fill(random, challenge.nonce), fill(random, hello.nonce), fill(random, hello.proof);
  fill(random, welcome.proof), fill(random, start.session);
  hello.introduction = random_bytes(random, 100), welcome.introduction = random_bytes(random, 100);
  Gathered gathered;
  for (std::size_t i = random() % 5; i > 0; --i) gathered.parts.push_back(random_bytes(random, 20));
  const auto code = static_cast<ErrorCode>(1 + random() % static_cast<int>(ErrorCode::internal));
  return {challenge,
          hello,
          welcome,
          Failure{code, random_bytes(random, 50, true)},
          Report{random_bytes(random, 50, true)},
          start,
          gathered,
          Contribution{random_bytes(random, 50)}};
}

std::string body_of(const Message& message) { return encode(message).substr(kLengthBytes); }

}  // namespace

TEST_CASE("every message arrives as it was sent, with its length in front") {
  for (unsigned seed = 1; seed < 50u; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::set<std::string_view> kinds;
    for (const Message& message : one_of_each(random)) {
      const std::string frame = encode(message);
      CHECK(frame_length(std::string_view(frame).substr(0, kLengthBytes)) == frame.size() - kLengthBytes);
      const auto decoded = decode(std::string_view(frame).substr(kLengthBytes));
      REQUIRE(decoded.ok());
      CHECK(*decoded == message);
      kinds.insert(kind_of(message));
    }
    CHECK(kinds.size() == std::variant_size_v<Message>);
  }
}

TEST_CASE("cut, lengthened and altered messages are refused or mean something, and never break the reader") {
  for (unsigned seed = 1; seed < 20u; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    for (const Message& message : one_of_each(random)) {
      const std::string body = body_of(message);
      for (std::size_t cut = 0; cut < body.size(); ++cut) {
        const auto decoded = decode(std::string_view(body).substr(0, cut));
        if (decoded) CHECK_FALSE(*decoded == message);
      }
      for (int i = 0; i < 200; ++i) {
        std::string altered = body;
        altered[random() % altered.size()] = static_cast<char>(random());
        if (i % 3 == 0) altered += random_bytes(random, 9);
        const auto decoded = decode(altered);
        if (decoded) CHECK(decode(body_of(*decoded)).ok());
        if (!decoded) CHECK_FALSE(decoded.status().message().empty());
      }
    }
  }
  CHECK_FALSE(decode("").ok());
  CHECK_FALSE(decode("\x7f").ok());
  // A failure can never be read as success, and cannot write to a terminal.
  const auto tricky = decode(std::string("\x03\x00\x1b[2J", 6));
  REQUIRE(tricky.ok());
  CHECK(std::get<Failure>(*tricky).code == ErrorCode::internal);
  CHECK(std::get<Failure>(*tricky).text == "?[2J");
}

TEST_CASE("gathered parts fill as few frames as they can, in order, none too long") {
  for (const std::vector<std::size_t>& sizes :
       std::vector<std::vector<std::size_t>>{{},
                                             {0},
                                             {0, 0, 0},
                                             {kContributionBytesMax},
                                             {kContributionBytesMax, kContributionBytesMax},
                                             {1, kContributionBytesMax, 1, 2}}) {
    std::vector<std::string> parts, again;
    for (const std::size_t size : sizes) parts.emplace_back(size, static_cast<char>('a' + parts.size()));
    for (const std::string& frame : encode_gathered(parts)) {
      CHECK(frame.size() <= kFrameBytesMax + kLengthBytes);
      const auto decoded = decode(std::string_view(frame).substr(kLengthBytes));
      for (const std::string& part : std::get<Gathered>(*decoded).parts) again.push_back(part);
    }
    CHECK(again == parts);
  }
}

TEST_CASE("introductions arrive as they were sent, and wrong fields are named") {
  const Introduction who{"1.2.3", 3, 8, "node7", 4711, 60'000};
  const std::string json = to_json(who);
  REQUIRE(parse_introduction(json).ok());
  CHECK(*parse_introduction(json) == who);
  struct Change {
    std::string from, to, field;
  };
  for (const Change& change :
       {Change{"\"rank\":3", "\"rank\":-1", "rank"}, Change{"\"rank\":3", "\"rank\":3.5", "rank"},
        Change{"\"rank\":3", "\"rank\":\"3\"", "rank"},
        Change{"\"rank\":3", "\"rank\":18446744073709551615", "rank"},
        Change{"\"size\":8", "\"size\":0", "size"}, Change{"\"size\":8", "\"length\":8", "size"},
        Change{"4711", "0", "pid"}, Change{"node7", "", "host"},
        Change{"node7", std::string(300, 'x'), "host"}, Change{"\"1.2.3\"", "null", "version"},
        Change{"60000", "4294967296", "milliseconds_left"}, Change{"3", "[[[[[[", "flat"},
        Change{"{", "[", "flat"}, Change{"}", "", "flat"}, Change{"}", "}}", "flat"}}) {
    std::string altered = json;
    altered.replace(altered.find(change.from), change.from.size(), change.to);
    CAPTURE(altered);
    const auto parsed = parse_introduction(altered);
    REQUIRE_FALSE(parsed.ok());
    CHECK(parsed.status().message().find(change.field) != std::string_view::npos);
  }
  std::string strange = json;
  strange.replace(strange.find("node7"), 5, "\\u001b\\n");
  CHECK(parse_introduction(strange)->host == "??");
  CHECK_FALSE(parse_introduction(std::string(100'000, '[')).ok());
  Introduction odd = who;
  odd.host = "\xff\xfe";  // not UTF-8
  CHECK(parse_introduction(to_json(odd)).ok());
}

TEST_CASE("a list of ranks says exactly which they are") {
  for (unsigned seed = 1; seed < 100u; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::vector<int> ranks;
    for (int rank = 0; rank < 24; ++rank)
      if (random() % 2) ranks.push_back(rank);
    std::vector<int> read;
    const std::string text = list_ranks(ranks);
    for (std::size_t at = 0; at < text.size();) {
      std::size_t used = 0;
      const int first = std::stoi(text.substr(at), &used);
      at += used;
      int last = first;
      if (at < text.size() && text[at] == '-') last = std::stoi(text.substr(++at), &used), at += used;
      for (int rank = first; rank <= last; ++rank) read.push_back(rank);
      at += 2;  // ", "
    }
    CHECK(read == ranks);
  }
}

TEST_CASE("long lists are cut, and say by how many") {
  Roll roll(1000);
  for (int rank = 0; rank < 1000; rank += 2) roll.add({"1", rank, 1000, "h", rank + 1, 0});
  const std::string text = roll.describe();
  CHECK(text.size() < 1000);
  CHECK(text.find("29, 31 and 484 more (500 of 1000)") != std::string::npos);
  CHECK(text.find("rank 30 (h, pid 31) and 484 more") != std::string::npos);
}

TEST_CASE("a proof depends on everything it covers") {
  Nonces nonces;
  const Proof proof = client_proof("secret", nonces, "me");
  Nonces server = nonces, client = nonces;
  server.server[31] = 1, client.client[0] = 1;
  CHECK(same(proof, client_proof("secret", nonces, "me")));
  for (const Proof& other : {server_proof("secret", nonces, "me"), client_proof("Secret", nonces, "me"),
                             client_proof("", nonces, "me"), client_proof("secret", server, "me"),
                             client_proof("secret", client, "me"), client_proof("secret", nonces, "m")})
    CHECK_FALSE(same(proof, other));
  CHECK(session_key("a", {}) != session_key("b", {}));
  CHECK(*make_nonce() != *make_nonce());
}
