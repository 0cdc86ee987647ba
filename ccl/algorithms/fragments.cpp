// The shared pieces of algorithms.
#include "ccl/algorithms/fragments.hpp"

namespace strata {

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

void ring_reduce_scatter(Writer& writer, const Group& group, std::span<const Slice> addends,
                         std::span<const Slice> sums) {
  for (int round = 1; round < group.size(); ++round) {
    const auto sent = static_cast<std::size_t>(group.wrap(group.me - round));
    const auto kept = static_cast<std::size_t>(group.wrap(group.me - round - 1));
    writer.send(group.at(group.me + 1), round == 1 ? addends[sent] : sums[sent]);
    writer.recv_reduce(group.at(group.me - 1), addends[kept], sums[kept]);
  }
}

void ring_all_gather(Writer& writer, const Group& group, std::span<const Slice> chunks) {
  for (int round = 0; round + 1 < group.size(); ++round) {
    const auto sent = static_cast<std::size_t>(group.wrap(group.me - round));
    const auto received = static_cast<std::size_t>(group.wrap(group.me - round - 1));
    writer.send(group.at(group.me + 1), chunks[sent]);
    writer.recv(group.at(group.me - 1), chunks[received]);
  }
}

}  // namespace strata
