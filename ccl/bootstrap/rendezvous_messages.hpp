// What rank 0 and a joining rank say to each other, and how it lies in a frame. Pure.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "strata/status.hpp"

namespace strata::rendezvous {

// A frame is its length in 4 bytes, little-endian, then one byte of kind and the body; the length counts kind
// and body.
inline constexpr std::size_t kLengthBytes = 4;
inline constexpr std::uint32_t kFrameBytesMax = 4u << 20;
inline constexpr std::uint32_t kHandshakeFrameBytesMax = 4096;  // while nothing is proven
inline constexpr std::size_t kContributionBytesMax = kFrameBytesMax - 64;

using Nonce = std::array<char, 32>;
using Proof = std::array<char, 32>;  // HMAC-SHA256

struct Challenge {  // rank 0 first: prove that you know the secret
  Nonce nonce{};
  friend bool operator==(const Challenge&, const Challenge&) = default;
};
struct Hello {  // the joining rank: here is the proof, and who I am; now prove it too
  Nonce nonce{};
  Proof proof{};
  std::string introduction;
  friend bool operator==(const Hello&, const Hello&) = default;
};
struct Welcome {
  Proof proof{};
  std::string introduction;
  friend bool operator==(const Welcome&, const Welcome&) = default;
};
struct Failure {  // refused, or the whole job has failed
  ErrorCode code = ErrorCode::internal;
  std::string text;
  friend bool operator==(const Failure&, const Failure&) = default;
};
struct Report {  // whom rank 0 waits for, for people
  std::string text;
  friend bool operator==(const Report&, const Report&) = default;
};
struct Start {  // all have come; the session's key is made from the secret and this
  Nonce session{};
  friend bool operator==(const Start&, const Start&) = default;
};
struct Contribution {  // one rank's part of an all-gather
  std::string bytes;
  friend bool operator==(const Contribution&, const Contribution&) = default;
};
struct Gathered {  // the next parts in rank order; as many frames as it takes
  std::vector<std::string> parts;
  friend bool operator==(const Gathered&, const Gathered&) = default;
};

// The kind is the index in this list. Challenge, Hello and Failure must stay as they are in all versions, so
// that two versions that meet can say so.
using Message = std::variant<Challenge, Hello, Welcome, Failure, Report, Start, Contribution, Gathered>;

std::string encode(const Message& message);                // a whole frame, with its length
std::uint32_t frame_length(std::string_view first_bytes);  // from the first kLengthBytes of a frame
// frame: kind and body. Any bytes may be given. Error: mismatch that says what is wrong with them.
Expected<Message> decode(std::string_view frame);
std::string_view kind_of(const Message& message);

// The frames that carry all parts.
std::vector<std::string> encode_gathered(const std::vector<std::string>& parts);

// The text with everything that could confuse a terminal or a log replaced by '?'.
std::string printable(std::string_view text);

}  // namespace strata::rendezvous
