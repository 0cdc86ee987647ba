// A proof holds for its own conversation, its own speaker and its own key, and for nothing else.
#include <catch2/catch.hpp>
#include <cstring>
#include <string>

#include "ccl/transport/handshake.hpp"

namespace strata {
namespace {

constexpr Greeting kGreeting = {'t', 'e', 's', 't', ' ', ' ', '0', '1'};
const std::string kKey(32, 'k');

struct Conversation {
  Hello hello = *make_hello(kGreeting, 2, 5);
  Answer answer = *make_answer(kKey, hello);
  Confirm confirm = make_confirm(kKey, hello, answer);
  Welcome welcome = make_welcome(kKey, hello, answer);

  bool holds(const std::string& key = kKey) const {
    return verify(key, hello, answer) && verify(key, hello, answer, confirm) &&
           verify(key, hello, answer, welcome);
  }
};

template <class Record>
void every_bit_counts(Record Conversation::*record) {
  for (std::size_t bit = 0; bit < sizeof(Record) * 8; ++bit) {
    Conversation c;
    auto* const bytes = reinterpret_cast<unsigned char*>(&(c.*record));
    bytes[bit / 8] = static_cast<unsigned char>(bytes[bit / 8] ^ 1u << bit % 8);
    CAPTURE(bit);
    REQUIRE(!c.holds());
  }
}

}  // namespace

TEST_CASE("a handshake of two who share the key holds, and every bit of it counts") {
  CHECK(Conversation{}.holds());
  every_bit_counts(&Conversation::hello);
  every_bit_counts(&Conversation::answer);
  every_bit_counts(&Conversation::confirm);
  every_bit_counts(&Conversation::welcome);
}

TEST_CASE("another key proves nothing") {
  const Conversation c;
  for (const std::string& key : {std::string(32, 'l'), std::string(), kKey + "k", kKey.substr(1)})
    CHECK(!c.holds(key));
}

TEST_CASE("a recorded or reflected proof is of no use") {
  const Conversation first, second;
  CHECK(!verify(kKey, second.hello, second.answer, first.confirm));
  CHECK(!verify(kKey, second.hello, first.answer));
  CHECK(!verify(kKey, first.hello, first.answer, Confirm{first.answer.proof}));
  CHECK(!verify(kKey, first.hello, first.answer, Confirm{first.welcome.proof}));
  CHECK(!verify(kKey, first.hello, first.answer, Welcome{first.confirm.proof}));
}

}  // namespace strata
