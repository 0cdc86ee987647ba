// Pairwise exchange: in each round ranks pair up and swap what they have for each other.
#include <algorithm>

#include "ccl/algorithms/builds.hpp"
#include "ccl/algorithms/writer.hpp"

namespace strata {
namespace {

class Exchange final {
 public:
  // Through slots: what arrives waits in scratch until what lies in its place has left.
  Exchange(Writer& writer, bool through_slots, std::uint64_t longest)
      : writer_(writer),
        through_slots_(through_slots),
        slots_(writer.program(), through_slots ? writer.piece_bytes_max(longest) : 0) {}

  void swap(Rank peer, Slice leaving, Slice arriving) {
    Program& program = writer_.program();
    const int sends = writer_.pieces(leaving.length), receives = writer_.pieces(arriving.length);
    for (int i = 0; i < std::max(sends, receives); ++i) {
      if (i < sends) program.send(peer, writer_.piece(leaving, i), writer_.channel(i));
      if (i >= receives) continue;
      const Slice piece = writer_.piece(arriving, i);
      const Slice into = through_slots_ ? slots_.next(piece.length) : piece;
      program.recv(peer, into, writer_.channel(i));
      program.copy(into, piece);
    }
  }

 private:
  Writer& writer_;
  bool through_slots_;
  Slots slots_;
};

}  // namespace

void pairwise_all_to_all(Program& program, const Request& request, const Group& group, const Tuning& tuning) {
  const int size = group.size();
  const Operands data = operands(request, size, group.me);
  const bool v_form = !request.counts.empty();
  Writer writer(program, request, tuning);
  // In place, equal counts both ways can be swapped pair by pair; otherwise all that leaves must step aside
  // first.
  const bool aligned = !v_form || request.counts == request.recv_counts;
  const bool aside = request.in_place && !aligned;
  const Slice source = aside ? program.scratch(data.in.length) : data.in;
  if (aside) writer.copy(data.in, source);
  const Parts from(source, request.element_bytes(), size, request.count, request.counts);
  const Parts to(data.out, request.element_bytes(), size, request.count,
                 v_form ? request.recv_counts : request.counts);
  std::uint64_t longest = 0;
  for (int i = 0; i < size; ++i) longest = std::max(longest, to[i].length);
  Exchange exchange(writer, request.in_place && aligned && size > 1, longest);
  for (int round = 0; round < size; ++round) {
    const int peer = group.wrap(round - group.me);  // and the peer's peer is me
    if (peer == group.me)
      writer.copy(from[peer], to[peer]);
    else
      exchange.swap(group.at(peer), from[peer], to[peer]);
  }
}

}  // namespace strata
