// Rewrites what a transport cannot do: long messages are cut, fused reductions taken apart.
#include "ccl/schedule/lower.hpp"

#include <algorithm>
#include <array>

#include "ccl/base/check.hpp"

namespace strata {
namespace {

// Receives in flight at once into scratch; more would only cost memory, fewer would make messages wait for
// sums.
constexpr std::uint32_t kScratchSlots = 4;

std::uint64_t piece_bytes_max(const WireAbilities& abilities, std::uint64_t element_bytes) {
  STRATA_CHECK(abilities.message_bytes_max >= element_bytes, abilities.message_bytes_max, element_bytes);
  return abilities.message_bytes_max / element_bytes * element_bytes;
}

// Sums in place need a place for what arrives. With a separate addend the target is that place.
bool needs_slot(const Step& step) { return step.op == Op::recv_reduce && step.from() == step.into(); }

Slice advance(Slice slice, std::uint64_t offset, std::uint64_t length) {
  return {slice.buffer, slice.offset + offset, length};
}

class Lowering final {
 public:
  Lowering(const Program& program, std::uint64_t element_bytes,
           const std::function<WireAbilities(Rank)>& abilities)
      : element_bytes_(element_bytes), abilities_(abilities) {
    std::uint64_t slot_bytes = 0;
    std::uint32_t slots = 0;
    for (const Step& step : program.steps()) {
      if (!step.on_wire()) continue;
      const WireAbilities can = abilities_(step.peer);
      const std::uint64_t piece_bytes = std::min(step.length, piece_bytes_max(can, element_bytes_));
      const bool taken_apart = step.op == Op::recv_reduce && !can.fused_recv_reduce;
      changes_ = changes_ || taken_apart || piece_bytes < step.length;
      if (!taken_apart || !needs_slot(step)) continue;
      slot_bytes = std::max(slot_bytes, piece_bytes);
      const std::uint64_t pieces = (step.length + piece_bytes - 1) / piece_bytes;
      slots = static_cast<std::uint32_t>(std::min<std::uint64_t>(slots + pieces, kScratchSlots));
    }
    if (!changes_) return;
    lowered_.scratch(program.scratch_bytes());  // keeps the program's own scratch where it was
    for (std::uint32_t i = 0; i < slots; ++i) slots_[i] = lowered_.scratch(slot_bytes);
    slots_used_ = slots;
  }

  Program run(const Program& program) && {
    if (!changes_) return program;
    for (const Step& step : program.steps()) step.on_wire() ? add_message(step) : add_local(step);
    return std::move(lowered_);
  }

 private:
  void add_local(const Step& step) {
    if (step.op == Op::copy) return lowered_.copy(step.from(), step.into());
    lowered_.reduce(step.from(), step.into(), static_cast<int>(step.fan_in()), step.finishes());
  }

  void add_message(const Step& step) {
    const WireAbilities can = abilities_(step.peer);
    const std::uint64_t piece_bytes = piece_bytes_max(can, element_bytes_);
    for (std::uint64_t at = 0; at < step.length;) {
      const std::uint64_t length = std::min(piece_bytes, step.length - at);
      const Slice from = advance(step.from(), at, length), into = advance(step.into(), at, length);
      if (step.op == Op::send) lowered_.send(step.peer, from, step.channel);
      if (step.op == Op::recv) lowered_.recv(step.peer, into, step.channel);
      if (step.op == Op::recv_reduce && can.fused_recv_reduce)
        lowered_.recv_reduce(step.peer, from, into, step.channel);
      if (step.op == Op::recv_reduce && !can.fused_recv_reduce) add_apart(step, from, into);
      at += length;
    }
  }

  void add_apart(const Step& step, Slice addend, Slice into) {
    if (!needs_slot(step)) {
      lowered_.recv(step.peer, into, step.channel);
      return lowered_.reduce(addend, into);  // every operation commutes
    }
    const Slice slot = advance(slots_[next_slot_++ % slots_used_], 0, into.length);
    lowered_.recv(step.peer, slot, step.channel);
    lowered_.reduce(slot, into);
  }

  std::uint64_t element_bytes_;
  const std::function<WireAbilities(Rank)>& abilities_;
  bool changes_ = false;
  Program lowered_;
  std::array<Slice, kScratchSlots> slots_{};
  std::uint32_t slots_used_ = 0;
  std::uint32_t next_slot_ = 0;
};

}  // namespace

Program lower(const Program& program, std::uint64_t element_bytes,
              const std::function<WireAbilities(Rank)>& abilities) {
  return Lowering(program, element_bytes, abilities).run(program);
}

}  // namespace strata
