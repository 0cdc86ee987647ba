// The shared pieces of algorithms.
#include "ccl/algorithms/fragments.hpp"

#include <algorithm>
#include <bit>

#include "ccl/base/check.hpp"

namespace strata {
namespace {

Slice at(std::span<const Slice> chunks, int i) { return chunks[static_cast<std::size_t>(i)]; }

bool is_power_of_two(int n) { return std::has_single_bit(static_cast<unsigned>(n)); }

}  // namespace

Chunks cut_evenly(Slice whole, int size, std::uint64_t element_bytes) {
  Chunks chunks;
  chunks.reserve(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) chunks.push_back(part(whole, i, size, element_bytes));
  return chunks;
}

Chunks chunks_of(const Parts& parts, int size) {
  Chunks chunks;
  chunks.reserve(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) chunks.push_back(parts[i]);
  return chunks;
}

Slice range(std::span<const Slice> chunks, int begin, int end) {
  const Slice first = at(chunks, begin), last = at(chunks, end - 1);
  return {first.buffer, first.offset, last.offset + last.length - first.offset};
}

void ring_reduce_scatter(Writer& writer, const Group& group, std::span<const Slice> addends,
                         std::span<const Slice> sums) {
  if (group.size() == 1) writer.copy(addends[0], sums[0]);
  for (int round = 1; round < group.size(); ++round) {
    const int sent = group.wrap(group.me - round), kept = group.wrap(group.me - round - 1);
    writer.send(group.at(group.me + 1), at(round == 1 ? addends : sums, sent));
    writer.recv_reduce(group.at(group.me - 1), at(addends, kept), at(sums, kept));
  }
}

void halving_reduce_scatter(Writer& writer, const Group& group, std::span<const Slice> addends,
                            std::span<const Slice> sums, Slice mine) {
  STRATA_CHECK(is_power_of_two(group.size()), group.size());
  if (group.size() == 1) writer.copy(addends[0], mine);
  std::span<const Slice> partial = addends;
  int begin = 0;
  for (int half = group.size() / 2; half >= 1; half /= 2) {
    const Rank peer = group.at(group.me ^ half);
    const bool upper = (group.me & half) != 0;
    const int kept = begin + (upper ? half : 0), sent = begin + (upper ? 0 : half);
    writer.send(peer, range(partial, sent, sent + half));
    writer.recv_reduce(peer, range(partial, kept, kept + half),
                       half == 1 ? mine : range(sums, kept, kept + half));
    partial = sums;
    begin = kept;
  }
}

void direct_reduce_scatter(Writer& writer, const Group& group, std::span<const Slice> addends, Slice mine,
                           Slots& sets, bool finish) {
  const int n = group.size();
  std::uint64_t longest = 0;
  for (const Slice& addend : addends) longest = std::max(longest, addend.length);
  for (int i = 0; i < writer.pieces(longest); ++i) {
    for (int k = 1; k < n; ++k) {
      const Slice theirs = at(addends, group.wrap(group.me + k));
      if (i < writer.pieces(theirs.length))
        writer.program().send(group.at(group.me + k), writer.piece(theirs, i), writer.channel(i));
    }
    if (i < writer.pieces(mine.length))
      receive_and_sum(writer, group, sets, writer.piece(at(addends, group.me), i), writer.piece(mine, i),
                      writer.channel(i), finish);
  }
}

void ring_all_gather(Writer& writer, const Group& group, std::span<const Slice> chunks) {
  for (int round = 0; round + 1 < group.size(); ++round) {
    writer.send(group.at(group.me + 1), at(chunks, group.wrap(group.me - round)));
    writer.recv(group.at(group.me - 1), at(chunks, group.wrap(group.me - round - 1)));
  }
}

void doubling_all_gather(Writer& writer, const Group& group, std::span<const Slice> chunks) {
  STRATA_CHECK(is_power_of_two(group.size()), group.size());
  for (int have = 1; have < group.size(); have *= 2) {
    const int mine = group.me / have * have, theirs = mine ^ have;
    writer.send(group.at(group.me ^ have), range(chunks, mine, mine + have));
    writer.recv(group.at(group.me ^ have), range(chunks, theirs, theirs + have));
  }
}

void direct_all_gather(Writer& writer, const Group& group, std::span<const Slice> chunks) {
  for (int k = 1; k < group.size(); ++k) {
    writer.send(group.at(group.me + k), at(chunks, group.me));
    writer.recv(group.at(group.me - k), at(chunks, group.wrap(group.me - k)));
  }
}

void receive_and_sum(Writer& writer, const Group& group, Slots& sets, Slice addend, Slice sum, int channel,
                     bool finish) {
  const int n = group.size();
  const std::uint64_t length = addend.length;
  const Slice rest = sets.next(static_cast<std::uint64_t>(n - 1) * length);
  const auto place = [&](int i) {
    return i == 0 ? sum
                  : Slice{rest.buffer, rest.offset + static_cast<std::uint64_t>(i - 1) * length, length};
  };
  Program& program = writer.program();
  program.copy(addend, place(group.me));
  for (int k = 1; k < n; ++k) program.recv(group.at(group.me - k), place(group.wrap(group.me - k)), channel);
  program.reduce(n > 1 ? rest : Slice{}, sum, n - 1, finish);
}

Fold fold(const Group& group) {
  const int size = group.size(), active = static_cast<int>(std::bit_floor(static_cast<unsigned>(size)));
  Fold result{size - active, group.me, {}};
  for (int i = 0; i < active; ++i)
    result.active.ranks.push_back(group.at(i < result.extra ? 2 * i + 1 : i + result.extra));
  result.active.me = group.me < 2 * result.extra ? group.me / 2 : group.me - result.extra;
  return result;
}

}  // namespace strata
