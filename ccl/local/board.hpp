// The memory of a group: one board for each member, written by it and read by the others.
//
//   Board x members | slot bodies: kSlots x slot_bytes x members
//
// A board has a few slots. Round e of the group goes through slot e % kSlots of each member that has
// something to say in it: the data, then the header's round, which publishes both. Data that fits lies right
// behind the header, the smallest in its cache line, so that one line carries the whole message; larger data
// is in the slot's body. A slot is written again when all others say that they have read what was in it.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "ccl/shm/words.hpp"

namespace strata {

using CallMark =
    std::array<std::uint64_t, 2>;  // what a member called, as its runtime describes it; compared only

struct SlotHeader {
  std::atomic<std::uint64_t> round;  // 1 + the round whose data is here; 0: none yet
  std::uint64_t consumed;            // the writer's Board::consumed at that time, which saves readers a line
  CallMark mark;
};
static_assert(sizeof(SlotHeader) == 32);

struct Slot {
  static constexpr std::size_t kBytes = 31 * 64;
  static constexpr std::size_t kInlineBytes = kBytes - sizeof(SlotHeader);

  SlotHeader header;
  std::byte data[kInlineBytes];
};

struct Board {
  static constexpr std::uint64_t kSlots = 4;

  // Rounds whose data from others this member has read: it does not look at them again.
  alignas(shm::kLineBytes) std::atomic<std::uint64_t> consumed;
  // 1: its call has failed, and the buffers that it lent are its caller's again.
  std::atomic<std::uint64_t> withdrawn;
  alignas(shm::kLineBytes) std::array<Slot, kSlots> slots;
};
static_assert(sizeof(Board) <= 2 * shm::kPageBytes);

struct GroupLayout {
  int members = 0;
  std::uint64_t slot_bytes = 0;  // of a body; whole pages

  static constexpr std::uint64_t kBoardBytes = 2 * shm::kPageBytes;

  std::uint64_t board_offset(int member) const { return static_cast<std::uint64_t>(member) * kBoardBytes; }
  std::uint64_t body_offset(int member, std::uint64_t slot) const {
    return board_offset(members) + (static_cast<std::uint64_t>(member) * Board::kSlots + slot) * slot_bytes;
  }
  std::uint64_t bytes() const { return body_offset(members, 0); }
};

}  // namespace strata
