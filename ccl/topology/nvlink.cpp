#include "ccl/topology/nvlink.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace strata::topology {

BitsPerSecond nvlink_lane_rate(int compute_capability) {
  constexpr struct {
    int from;
    BitsPerSecond rate;
  } kGenerations[] = {{100, 400'000'000'000}, {90, 200'000'000'000}, {86, 112'500'000'000},
                      {80, 200'000'000'000},  {70, 200'000'000'000}, {60, 160'000'000'000}};
  for (const auto& generation : kGenerations)
    if (compute_capability >= generation.from) return generation.rate;
  return 0;
}

void add_nvlinks(std::span<const NvLanes> lanes, Machine& machine) {
  std::map<std::pair<int, int>, BitsPerSecond> rates;  // by what one end says
  for (const NvLanes& l : lanes) {
    const auto target = std::find_if(machine.gpus.begin(), machine.gpus.end(),
                                     [&](const Gpu& gpu) { return gpu.address == l.target; });
    if (target == machine.gpus.end() && !l.to_switch) continue;
    const int other = l.to_switch ? kNone : static_cast<int>(target - machine.gpus.begin());
    rates[{l.gpu, other}] += nvlink_lane_rate(l.compute_capability) * static_cast<unsigned>(l.count);
  }
  for (const auto& [ends, rate] : rates) {
    const auto [a, b] = ends;
    const bool told_by_the_other = b != kNone && b < a && rates.count({b, a}) > 0;
    if (a != b && !told_by_the_other) machine.gpu_links.push_back({a, b, rate});
  }
}

}  // namespace strata::topology
