// Headers: what a correct peer sends passes, everything else is refused and named.
#include "ccl/transport/stream/frame.hpp"

#include <catch2/catch.hpp>
#include <cstring>

namespace strata::stream {
namespace {

FrameHeader data(std::uint64_t length, std::uint64_t offset, std::uint32_t fragment, bool announced) {
  FrameHeader header;
  header.tag = {.operation = 1, .communicator = 2, .message = 3};
  header.length = length;
  header.offset = offset;
  header.fragment = fragment;
  header.announced = announced;
  return header;
}
FrameHeader control(FrameKind kind, std::uint64_t length = 0, std::uint32_t credit = 0) {
  FrameHeader header;
  header.kind = kind;
  header.length = length;
  header.credit = credit;
  return header;
}

TEST_CASE("frames of a correct peer pass") {
  CHECK(check_frame(data(0, 0, 0, false)).ok());
  CHECK(check_frame(data(0, 0, 0, true)).ok());
  CHECK(check_frame(data(kEagerBytesMax, 0, kEagerBytesMax, false)).ok());
  CHECK(check_frame(data(~0ull, ~0ull - 5, 5, true)).ok());
  CHECK(check_frame(data(1 << 22, 1 << 18, kFragmentBytesMax, true)).ok());
  CHECK(check_frame(control(FrameKind::ready, ~0ull)).ok());
  CHECK(check_frame(control(FrameKind::request, 0, kEagerWindowBytes)).ok());
  CHECK(check_frame(control(FrameKind::credit, 0, 1)).ok());
}

TEST_CASE("malformed frames are refused by name") {
  const auto refuses = [](FrameHeader header, const std::string& what) {
    const Status status = check_frame(header);
    CHECK(status.code() == ErrorCode::peer_lost);
    CHECK_THAT(std::string(status.message()), Catch::Contains(what));
  };
  FrameHeader header = data(10, 0, 10, false);
  header.magic = 0x4854;
  refuses(header, "begins with 0x4854");
  header = data(10, 0, 10, false);
  header.kind = static_cast<FrameKind>(17);
  refuses(header, "kind 17");
  header = data(10, 0, 10, false);
  header.reserved[2] = 1;
  refuses(header, "reserved");
  header = data(10, 0, 10, false);
  header.announced = 2;
  refuses(header, "announced");
  header = data(10, 0, 10, false);
  header.requested = 1;
  refuses(header, "requested");
  refuses(data(10, 0, 9, false), "9 of 10 bytes");
  refuses(data(10, 11, 0, true), "[11, +0) of a message of 10");
  refuses(data(10, 5, 6, true), "[5, +6) of a message of 10");
  refuses(data(10, ~0ull, 6, true), "of a message of 10");
  refuses(data(10, 5, 0, true), "empty fragment");
  refuses(data(1 << 22, 0, kFragmentBytesMax + 1, true), "fragment of 1048577");
  refuses(data(kEagerBytesMax + 1, 0, kEagerBytesMax + 1, false), "sent on credit");
  refuses(control(FrameKind::credit), "without credit");
  refuses(control(FrameKind::credit, 1, 1), "names a message");
  refuses(control(FrameKind::ready, 1, kEagerWindowBytes + 1), "credit of");
  header = control(FrameKind::request, 5);
  header.fragment = 5;
  refuses(header, "payload fields");
}

TEST_CASE("every header survives being bytes") {
  const FrameHeader header = data(300'000, 131'072, 1000, true);
  std::array<std::byte, kFrameBytes> bytes;
  std::memcpy(bytes.data(), &header, kFrameBytes);
  const Expected<FrameHeader> parsed = parse_frame(bytes);
  REQUIRE(parsed.ok());
  CHECK(std::memcmp(&*parsed, &header, kFrameBytes) == 0);
}

}  // namespace
}  // namespace strata::stream
