#include "tools/strata_run/placement.hpp"

#include <algorithm>

namespace strata::run {
namespace {

std::vector<Place> places_of(const LabOptions& lab) {
  const std::vector<int>& sizes = lab.shape.ranks;
  std::vector<Place> places;
  for (int host = 0; const int size : sizes) {
    for (int local = 0; local < size; ++local) places.push_back({host, local, size});
    ++host;
  }
  // Of those, first one of each host, then another of each, and so on.
  if (lab.round_robin)
    std::stable_sort(places.begin(), places.end(),
                     [](const Place& a, const Place& b) { return a.local_rank < b.local_rank; });
  return places;
}

}  // namespace

Place place_of(const Options& options, int started) {
  if (!options.lab) return {0, started, options.ranks};
  return places_of(*options.lab)[static_cast<std::size_t>(started)];
}

}  // namespace strata::run
