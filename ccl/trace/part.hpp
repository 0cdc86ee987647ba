// What one rank has recorded: a file, mapped while it is written, so that it outlives a rank that is killed.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "ccl/trace/clock.hpp"
#include "ccl/trace/record.hpp"
#include "strata/status.hpp"

namespace strata::trace {

inline constexpr std::size_t kThreadsNamedMax = 64;

// 16 bytes of text, in words so that they can be written while others read.
using ThreadName = std::array<std::uint64_t, 2>;
std::string text_of(const ThreadName& name);

// What is to be taken from a time of this rank's host to have that of rank 0's, as it was found at_ns.
struct ClockOffset {
  std::int64_t at_ns = 0, offset_ns = 0;
  std::int64_t error_ns = 0;  // it is not farther off than this
  friend bool operator==(const ClockOffset&, const ClockOffset&) = default;
};

struct PartHeader {
  std::array<char, 8> magic = {};
  std::int32_t rank = 0, size = 0, pid = 0;
  std::array<char, 64> host = {};
  std::uint64_t created_ns = 0;        // since 1970
  Anchor begun, latest;                // ticks of the records are told by both
  ClockOffset first, last;             // alike: found once
  std::uint64_t records_max = 0;       // that there is room for
  alignas(64) std::uint64_t next = 0;  // records so far, and those for which there was no room
  alignas(64) std::array<ThreadName, kThreadsNamedMax> threads = {};
};
inline constexpr std::size_t kHeaderBytes = 4096;
static_assert(sizeof(PartHeader) <= kHeaderBytes && std::is_trivially_copyable_v<PartHeader>);
inline constexpr std::array<char, 8> kMagic = {'s', 't', 'r', 'a', 't', 'r', 'c', '1'};

struct Part {
  PartHeader header;
  std::vector<Record> records;  // those that were written, in the order in which they got their places
  std::uint64_t dropped() const {
    return header.next > header.records_max ? header.next - header.records_max : 0;
  }
};

// From ticks to nanoseconds.
void to_nanoseconds(Part& part);

// Where a rank's part is, the first that can be: FILE.rank3.part, or the same name among temporary files.
std::vector<std::string> part_places(const std::string& trace, Rank rank);
// Error: unavailable, it cannot be read; invalid_argument, it is none.
Expected<Part> read_part(const std::string& path);

// The time of rank 0's host when it is `ns` at the part's, by the line through both offsets.
std::int64_t common_ns(const PartHeader& header, std::uint64_t ns);

}  // namespace strata::trace
