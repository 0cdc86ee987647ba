// New communicators out of old ones, agreed by the old one's own collectives.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "ccl/runtime/communicator_impl.hpp"

namespace strata {
namespace {

struct Wish {
  std::int32_t color, key;
};

// A number that no communicator of any member has. Each proposal is a hash of where the new one comes from,
// so all members propose the same without a counter of their own; should one of them know it already, all try
// the next.
std::uint32_t proposal(std::uint32_t parent, std::uint32_t split, std::int32_t color, std::uint32_t attempt) {
  std::uint64_t z = (std::uint64_t{parent} << 32 | split) * 0x9e3779b97f4a7c15u;
  z ^= (std::uint64_t{static_cast<std::uint32_t>(color)} << 32 | attempt) + 0xbf58476d1ce4e5b9u + (z << 6) +
       (z >> 2);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<std::uint32_t>(z ^ (z >> 31));
}

bool reserved(std::uint32_t id) { return id <= kFirstCommunicator || id >= kTraceCommunicator; }

// My group: its members by key, then by old rank (indices in the parent).
std::vector<int> members_of(const std::vector<Wish>& wishes, std::int32_t color) {
  std::vector<int> members;
  for (std::size_t i = 0; i < wishes.size(); ++i)
    if (wishes[i].color == color) members.push_back(static_cast<int>(i));
  std::stable_sort(members.begin(), members.end(), [&](int a, int b) {
    return wishes[static_cast<std::size_t>(a)].key < wishes[static_cast<std::size_t>(b)].key;
  });
  return members;
}

std::shared_ptr<CommunicatorState> make_state(const CommunicatorState& parent, std::uint32_t id,
                                              const std::vector<int>& members) {
  std::vector<Rank> ranks;
  for (const int member : members) ranks.push_back(parent.ranks[static_cast<std::size_t>(member)]);
  const auto me = std::find(members.begin(), members.end(), parent.me()) - members.begin();
  auto state = std::make_shared<CommunicatorState>(id, std::move(ranks), static_cast<int>(me));
  state->select_by(parent.selector->model().of_members(members));
  state->timeout_ms = parent.timeout_ms;
  state->algorithm = parent.algorithm;
  state->reads_peers = parent.reads_peers;
  return state;
}

}  // namespace

Expected<std::optional<Communicator>> Communicator::split(int color, int key) {
  const GroupBypass bypass;
  Engine& engine = *impl_->engine;
  CommunicatorState& parent = *impl_->state;
  std::uint32_t number;
  {
    const std::lock_guard lock(parent.order);
    number = parent.splits++;
  }
  std::vector<Wish> wishes(static_cast<std::size_t>(parent.size()));
  const Wish mine{color, key};
  if (Status s = all_gather(&mine, wishes.data(), 2, DataType::int32).wait(); !s.ok()) return s;
  const std::vector<int> members = members_of(wishes, color);
  for (std::uint32_t attempt = 0;; ++attempt) {
    std::shared_ptr<CommunicatorState> state;
    std::uint8_t taken = 0;
    if (color >= 0) {
      const std::uint32_t id = proposal(parent.id, number, color, attempt);
      state = make_state(parent, id, members);
      taken = reserved(id) || !engine.add(state);
    }
    // Also the moment from which every member knows the new communicator and may be sent to on it.
    std::uint8_t taken_somewhere = 0;
    const Status agreed = all_reduce(&taken, &taken_somewhere, 1, DataType::uint8, ReduceOp::max).wait();
    if (agreed.ok() && !taken_somewhere) {
      if (color < 0) return std::optional<Communicator>();
      return std::optional<Communicator>(
          Communicator(std::make_shared<Impl>(impl_->engine, std::move(state))));
    }
    if (state && !taken) engine.forget(state->id);
    if (!agreed.ok()) return agreed;
  }
}

Expected<Communicator> Communicator::duplicate() {
  auto copy = split(0, rank());
  if (!copy) return copy.status();
  return **std::move(copy);
}

Expected<std::optional<Communicator>> Communicator::subgroup(std::span<const Rank> ranks) {
  // The list is taken as a colour, its smallest rank, and keys. A bad list still takes part in the collective
  // call, so that the others are not left waiting.
  const auto invalid = [&](const std::string& what) {
    return Status(ErrorCode::invalid_argument, fmt::format("subgroup: {}", what));
  };
  Status bad;
  std::vector<Rank> sorted(ranks.begin(), ranks.end());
  std::sort(sorted.begin(), sorted.end());
  for (const Rank r : sorted)
    if (r < 0 || r >= size())
      bad = invalid(fmt::format("rank {} is not in this communicator; it has ranks 0 to {}", r, size() - 1));
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    bad = invalid(fmt::format("rank {} is listed twice", *twice));
  const auto me = std::find(ranks.begin(), ranks.end(), rank());
  const bool member = bad.ok() && me != ranks.end();
  auto made = split(member ? sorted.front() : -1, static_cast<int>(me - ranks.begin()));
  if (!bad.ok()) return bad;
  if (made && *made && (*made)->size() != static_cast<int>(ranks.size()))
    return invalid(
        fmt::format("{} ranks are listed here, but {} gave this list; all members must give the same",
                    ranks.size(), (*made)->size()));
  return made;
}

}  // namespace strata
