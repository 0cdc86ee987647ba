#include "ccl/bootstrap/rendezvous_roll.hpp"

#include <fmt/format.h>

#include "ccl/base/check.hpp"

namespace strata::rendezvous {
namespace {

constexpr std::size_t kRangesMax = 16;
constexpr int kNamedMax = 16;

}  // namespace

std::string list_ranks(std::span<const int> ranks) {
  std::string text;
  std::size_t ranges = 0;
  for (std::size_t first = 0; first < ranks.size(); ++ranges) {
    if (ranges == kRangesMax) return text + fmt::format(" and {} more", ranks.size() - first);
    std::size_t last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (!text.empty()) text += ", ";
    text += first == last ? fmt::format("{}", ranks[first]) : fmt::format("{}-{}", ranks[first], ranks[last]);
    first = last + 1;
  }
  return text;
}

void Roll::add(const Introduction& who) {
  auto& place = present_[static_cast<std::size_t>(who.rank)];
  STRATA_CHECK(!place, who.rank);
  place = who;
  ++come_;
}

std::vector<int> Roll::missing() const {
  std::vector<int> ranks;
  for (int rank = 0; rank < size(); ++rank)
    if (!at(rank)) ranks.push_back(rank);
  return ranks;
}

std::string Roll::describe() const {
  std::string here;
  int named = 0;
  for (const auto& who : present_) {
    if (!who) continue;
    if (++named <= kNamedMax) here += (here.empty() ? "" : ", ") + rendezvous::describe(*who);
  }
  if (named > kNamedMax) here += fmt::format(" and {} more", named - kNamedMax);
  const std::vector<int> absent = missing();
  return fmt::format("missing: rank {} ({} of {}); here: {}", list_ranks(absent), absent.size(), size(),
                     here.empty() ? "nobody" : here);
}

Status judge(const Roll& roll, const Introduction& me, const Introduction& who, std::string_view rendezvous) {
  const std::string they = describe(who), we = describe(me);
  if (who.version != me.version)
    return {ErrorCode::mismatch,
            fmt::format("{} runs Strata {}, but {} runs Strata {}; all ranks must run the same version", they,
                        who.version, we, me.version)};
  if (who.size != me.size)
    return {ErrorCode::mismatch,
            fmt::format(
                "{} was told that there are {} ranks, but {} was told {}; WORLD_SIZE must be the same on all "
                "ranks, and each job needs a rendezvous of its own (here {})",
                they, who.size, we, me.size, rendezvous)};
  if (who.rank >= who.size)
    return {ErrorCode::mismatch, fmt::format("{} is beyond its size of {}", they, who.size)};
  if (const auto& first = roll.at(who.rank))
    return {ErrorCode::mismatch,
            fmt::format(
                "rank {} came twice: on {} with pid {}, and on {} with pid {}; each rank needs a RANK of its "
                "own, and each job a rendezvous of its own (here {})",
                who.rank, first->host, first->pid, who.host, who.pid, rendezvous)};
  return {};
}

}  // namespace strata::rendezvous
