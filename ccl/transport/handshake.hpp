// How two ranks prove to each other that they belong to the same job: a mutual challenge over the session
// key, with fresh nonces and both ranks in what is signed, so that nothing recorded or reflected is of use.
// Pure but for the nonces; the pipes carry the four records.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "strata/status.hpp"
#include "strata/types.hpp"

namespace strata {

using Nonce = std::array<std::byte, 32>;
using Proof = std::array<std::byte, 32>;  // HMAC-SHA256
using Greeting = std::array<char, 8>;     // which transport and which version of its protocol

// In the order in which they travel. Both ends are little-endian machines of one job.
struct Hello {  // connector to acceptor
  Greeting greeting{};
  Rank from = 0, to = 0;
  std::uint32_t stream = 0;  // which of the connections between the two
  std::uint32_t reserved = 0;
  Nonce nonce{};
};
struct Answer {  // acceptor to connector
  Nonce nonce{};
  Proof proof{};
};
struct Confirm {  // connector to acceptor
  Proof proof{};
};
struct Welcome {  // acceptor to connector: the pair is connected
  Proof proof{};
};
static_assert(sizeof(Hello) == 56 && sizeof(Answer) == 64 && sizeof(Confirm) == 32 && sizeof(Welcome) == 32);

Expected<Hello> make_hello(const Greeting& greeting, Rank from, Rank to, std::uint32_t stream = 0);
Expected<Answer> make_answer(std::string_view key, const Hello& hello);
Confirm make_confirm(std::string_view key, const Hello& hello, const Answer& answer);
Welcome make_welcome(std::string_view key, const Hello& hello, const Answer& answer);

// Does the record come from one who has the key?
bool verify(std::string_view key, const Hello& hello, const Answer& answer);
bool verify(std::string_view key, const Hello& hello, const Answer& answer, const Confirm& confirm);
bool verify(std::string_view key, const Hello& hello, const Answer& answer, const Welcome& welcome);

}  // namespace strata
