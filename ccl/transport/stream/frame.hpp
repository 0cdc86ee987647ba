// The wire format of the stream protocol: what stands before every payload, and what is accepted as that.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "ccl/transport/transport.hpp"

namespace strata::stream {

// Both ends of a pipe must have the same limits; kMagic changes when they do.
inline constexpr std::uint64_t kEagerBytesMax = 16 << 10;    // up to here: sent without asking, on credit
inline constexpr std::uint64_t kFragmentBytesMax = 1 << 20;  // payload of one frame; pipes may want less
inline constexpr std::uint32_t kEagerWindowBytes =
    512 << 10;  // eager messages on the way or stashed, one direction
inline constexpr std::uint32_t kAnnouncementsMax =
    1 << 16;  // readies and requests of a peer that met no post yet
inline constexpr std::uint64_t kStashBlockBytes = 256;
inline constexpr std::uint16_t kMagic = 0x5302;  // 'S', version 2

enum class FrameKind : std::uint8_t {
  data,     // a fragment of a message, its payload behind it
  ready,    // "I have posted the receive": the sender may send it all
  request,  // "I have posted the send and may not send yet": answered by ready once the receive is posted
  credit,   // carries only the field of this name
};
inline constexpr int kFrameKinds = 4;

struct FrameHeader {
  std::uint16_t magic = kMagic;
  FrameKind kind = FrameKind::data;
  std::uint8_t announced = 0;  // data: 1 when it answers a ready, 0 when it was sent on credit
  std::uint32_t credit = 0;    // eager bytes the receiver of this frame gets back
  Tag tag;
  Fingerprint fingerprint;
  std::uint64_t length = 0;    // of the whole message
  std::uint64_t offset = 0;    // data: where the fragment begins
  std::uint32_t fragment = 0;  // data: bytes of payload behind this header
  // data that answers a ready: 1 when a request for its message was sent, perhaps in another stream and still
  // under way
  std::uint8_t requested = 0;
  std::array<std::uint8_t, 3> reserved{};
};

// The struct is the layout, byte for byte. All hosts Strata runs on are little-endian; one that is not must
// swap here.
static_assert(std::endian::native == std::endian::little);
static_assert(std::is_trivially_copyable_v<FrameHeader> &&
              std::has_unique_object_representations_v<FrameHeader>);
static_assert(offsetof(FrameHeader, kind) == 2 && offsetof(FrameHeader, announced) == 3);
static_assert(offsetof(FrameHeader, credit) == 4 && offsetof(FrameHeader, tag) == 8);
static_assert(offsetof(Tag, communicator) == 8 && offsetof(Tag, message) == 12);
static_assert(offsetof(FrameHeader, fingerprint) == 24);
static_assert(offsetof(Fingerprint, type) == 1 && offsetof(Fingerprint, op) == 2 &&
              offsetof(Fingerprint, flags) == 3);
static_assert(offsetof(Fingerprint, root) == 4 && offsetof(Fingerprint, count) == 8);
static_assert(offsetof(FrameHeader, length) == 40 && offsetof(FrameHeader, offset) == 48);
static_assert(offsetof(FrameHeader, fragment) == 56 && offsetof(FrameHeader, requested) == 60);

inline constexpr std::size_t kFrameBytes = sizeof(FrameHeader);
static_assert(kFrameBytes == 64, "a cache line");

// What an eager message of this length takes of the window: what it can occupy at the receiver.
constexpr std::uint32_t eager_cost(std::uint64_t length) {
  return static_cast<std::uint32_t>(kFrameBytes +
                                    (length + kStashBlockBytes - 1) / kStashBlockBytes * kStashBlockBytes);
}
static_assert(eager_cost(kEagerBytesMax) <= kEagerWindowBytes / 2,
              "a lone credit frame comes before the window is shut");

// ok, or what is wrong with the header taken by itself. Whatever passes can be acted on without overflow.
Status check_frame(const FrameHeader& header);

// Any bytes in, a header or what is wrong with it out.
Expected<FrameHeader> parse_frame(std::span<const std::byte, kFrameBytes> bytes);

}  // namespace strata::stream
