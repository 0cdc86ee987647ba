// The meaning of each collective.
#include "ccl/schedule/specification.hpp"

#include <numeric>

#include "ccl/base/check.hpp"

namespace strata {
namespace {

using Counts = std::vector<std::uint64_t>;

std::uint64_t sum(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

std::uint64_t sum_before(const Counts& counts, std::size_t rank) {
  return std::accumulate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(rank),
                         std::uint64_t{0});
}

// Every rank's part lies in a large buffer: where, in elements.
struct Part {
  std::uint64_t begin;
  std::uint64_t count;
  std::uint64_t whole;
};

RankSpecification equal_buffers(std::uint64_t count, bool in_place) {
  RankSpecification s;
  s.input_count = s.output_count = count;
  s.in_place = in_place;
  return s;
}

RankSpecification large_output(Part mine, bool in_place) {
  RankSpecification s;
  s.input_count = mine.count;
  s.output_count = mine.whole;
  s.in_place = in_place;
  s.input_begin = mine.begin;
  return s;
}

RankSpecification large_input(Part mine, bool in_place) {
  RankSpecification s;
  s.input_count = mine.whole;
  s.output_count = mine.count;
  s.in_place = in_place;
  s.output_begin = mine.begin;
  return s;
}

RankSpecification input_only(std::uint64_t count) {
  RankSpecification s;
  s.input_count = count;
  return s;
}

RankSpecification output_only(std::uint64_t count) {
  RankSpecification s;
  s.output_count = count;
  return s;
}

std::vector<Run> every_part_in_order(const Counts& counts) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < counts.size(); ++i)
    runs.push_back({sum_before(counts, i), counts[i], static_cast<Rank>(i), 0});
  return runs;
}

RankSpecification all_to_all(const std::vector<Counts>& sends, std::size_t me, bool in_place) {
  Counts receives;
  for (const Counts& from : sends) receives.push_back(from[me]);
  RankSpecification s;
  s.input_count = sum(sends[me]);
  s.output_count = sum(receives);
  s.in_place = in_place;
  for (std::size_t i = 0; i < sends.size(); ++i)
    s.result.push_back(
        {sum_before(receives, i), receives[i], static_cast<Rank>(i), sum_before(sends[i], me)});
  return s;
}

RankSpecification specify_rank(const Call& call, const Counts& counts, const std::vector<Counts>& sends,
                               std::size_t me) {
  const bool root = static_cast<Rank>(me) == call.root, in_place = call.in_place[me];
  const Part mine{sum_before(counts, me), counts[me], sum(counts)};
  RankSpecification s;
  switch (call.collective) {
    case Collective::broadcast:
      s = root ? equal_buffers(call.count, in_place) : output_only(call.count);
      s.result = {{0, call.count, call.root, 0}};
      return s;
    case Collective::reduce:
      s = root ? equal_buffers(call.count, in_place) : input_only(call.count);
      if (root) s.result = {{0, call.count, kAllRanks, 0}};
      return s;
    case Collective::all_reduce:
      s = equal_buffers(call.count, in_place);
      s.result = {{0, call.count, kAllRanks, 0}};
      return s;
    case Collective::reduce_scatter:
      s = large_input(mine, in_place);
      s.result = {{0, mine.count, kAllRanks, mine.begin}};
      return s;
    case Collective::all_gather:
      s = large_output(mine, in_place);
      s.result = every_part_in_order(counts);
      return s;
    case Collective::gather:
      s = root ? large_output(mine, in_place) : input_only(mine.count);
      if (root) s.result = every_part_in_order(counts);
      return s;
    case Collective::scatter:
      s = root ? large_input(mine, in_place) : output_only(mine.count);
      s.result = {{0, mine.count, call.root, mine.begin}};
      return s;
    case Collective::all_to_all: return all_to_all(sends, me, in_place);
    case Collective::barrier:
    case Collective::send:
    case Collective::recv: return s;
  }
  return s;
}

}  // namespace

Specification specify(const Call& call) {
  const auto size = static_cast<std::size_t>(call.size);
  STRATA_CHECK(size >= 1 && call.in_place.size() == size, size, call.in_place.size());
  STRATA_CHECK(call.counts.empty() || call.counts.size() == size, call.counts.size(), size);
  STRATA_CHECK(call.sends.empty() || call.sends.size() == size, call.sends.size(), size);
  const Counts counts = call.counts.empty() ? Counts(size, call.count) : call.counts;
  const std::vector<Counts> sends =
      call.sends.empty() ? std::vector<Counts>(size, Counts(size, call.count)) : call.sends;
  Specification specification;
  specification.element_bytes = call.element_bytes;
  specification.finish = call.finish;
  specification.equal_everywhere = call.collective == Collective::all_reduce;
  specification.barrier = call.collective == Collective::barrier;
  for (std::size_t me = 0; me < size; ++me)
    specification.ranks.push_back(specify_rank(call, counts, sends, me));
  return specification;
}

}  // namespace strata
