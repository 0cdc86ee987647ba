// Linear probing; erasing moves later entries up, so there are no tombstones and lookups stay short for ever.
#include "ccl/transport/stream/tag_table.hpp"

#include <utility>

#include "ccl/base/check.hpp"

namespace strata::stream {

TagTable::TagTable() : slots_(256) {}

std::size_t TagTable::home(Rank peer, const Tag& tag) const {
  std::uint64_t h = (std::uint64_t{tag.communicator} << 32 | tag.message) * 0x9e3779b97f4a7c15ull;
  h = (h ^ (h >> 32) ^ tag.operation) * 0xbf58476d1ce4e5b9ull;
  h = (h ^ (h >> 29) ^ static_cast<std::uint32_t>(peer)) * 0x94d049bb133111ebull;
  return (h ^ (h >> 32)) & (slots_.size() - 1);
}

std::size_t TagTable::locate(Rank peer, const Tag& tag) const {
  std::size_t slot = home(peer, tag);
  while (slots_[slot].used() && !(slots_[slot].peer == peer && slots_[slot].tag == tag)) slot = after(slot);
  return slot;
}

std::uint32_t TagTable::find(Rank peer, const Tag& tag) const { return slots_[locate(peer, tag)].value; }

void TagTable::insert(Rank peer, const Tag& tag, std::uint32_t value) {
  if (2 * (count_ + 1) > slots_.size()) grow();
  Slot& slot = slots_[locate(peer, tag)];
  STRATA_CHECK(!slot.used() && value != kNone, peer, tag.communicator, tag.operation, tag.message);
  slot = {tag, peer, value};
  ++count_;
}

void TagTable::erase(Rank peer, const Tag& tag) {
  std::size_t hole = locate(peer, tag);
  STRATA_CHECK(slots_[hole].used(), peer, tag.communicator, tag.operation, tag.message);
  for (std::size_t next = after(hole); slots_[next].used(); next = after(next)) {
    // An entry may move into the hole unless its home lies behind the hole (cyclically).
    const std::size_t wanted = home(slots_[next].peer, slots_[next].tag);
    const std::size_t distance = (next - wanted) & (slots_.size() - 1);
    const std::size_t to_hole = (next - hole) & (slots_.size() - 1);
    if (distance < to_hole) continue;
    slots_[hole] = slots_[next];
    hole = next;
  }
  slots_[hole] = {};
  --count_;
}

void TagTable::grow() {
  std::vector<Slot> old(2 * slots_.size());
  std::swap(old, slots_);
  for (const Slot& slot : old) {
    if (slot.used()) slots_[locate(slot.peer, slot.tag)] = slot;
  }
}

}  // namespace strata::stream
