// Refuses headers that no correct peer sends.
#include "ccl/transport/stream/frame.hpp"

#include <fmt/format.h>

#include <cstring>

namespace strata::stream {
namespace {

template <class... A>
Status malformed(fmt::format_string<A...> format, A&&... a) {
  return Status(ErrorCode::peer_lost, "a malformed frame: " + fmt::format(format, std::forward<A>(a)...));
}

Status check_data(const FrameHeader& h) {
  if (h.announced > 1) return malformed("the announced field is {}, not 0 or 1", h.announced);
  if (h.requested > h.announced)
    return malformed("the requested field is {}, the announced field {}", h.requested, h.announced);
  if (h.fragment > kFragmentBytesMax)
    return malformed("fragment of {} bytes (at most {})", h.fragment, kFragmentBytesMax);
  if (h.offset > h.length || h.fragment > h.length - h.offset) {
    return malformed("fragment [{}, +{}) of a message of {} bytes", h.offset, h.fragment, h.length);
  }
  if (h.fragment == 0 && h.length > 0) return malformed("empty fragment of a message of {} bytes", h.length);
  if (h.announced) return {};
  if (h.length > kEagerBytesMax)
    return malformed("{} bytes sent on credit (at most {})", h.length, kEagerBytesMax);
  if (h.fragment != h.length) return malformed("{} of {} bytes in an eager frame", h.fragment, h.length);
  return {};
}

Status check_control(const FrameHeader& h) {
  if (h.announced || h.requested || h.offset || h.fragment)
    return malformed("control frame with payload fields set");
  if (h.kind != FrameKind::credit) return {};
  if (h.credit == 0) return malformed("credit frame without credit");
  if (h.length || h.tag != Tag{} || h.fingerprint != Fingerprint{}) {
    return malformed("credit frame that names a message");
  }
  return {};
}

}  // namespace

Status check_frame(const FrameHeader& h) {
  if (h.magic != kMagic) return malformed("it begins with {:#06x}, not {:#06x}", h.magic, kMagic);
  if (static_cast<int>(h.kind) >= kFrameKinds) return malformed("kind {}", static_cast<int>(h.kind));
  if (h.reserved != decltype(h.reserved){}) return malformed("its reserved bytes are not 0");
  if (h.credit > kEagerWindowBytes)
    return malformed("credit of {} bytes (window: {})", h.credit, kEagerWindowBytes);
  return h.kind == FrameKind::data ? check_data(h) : check_control(h);
}

Expected<FrameHeader> parse_frame(std::span<const std::byte, kFrameBytes> bytes) {
  FrameHeader header;
  std::memcpy(&header, bytes.data(), kFrameBytes);
  if (Status status = check_frame(header); !status.ok()) return status;
  return header;
}

}  // namespace strata::stream
