#include "tools/strata_topo/gpu_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ccl/topology/cpu_list.hpp"
#include "ccl/topology/quantity.hpp"

namespace strata::topo {
namespace {

using namespace topology;

constexpr std::size_t kTableGpusMax = 16;

std::string gigabits(BitsPerSecond rate) {
  return rate == 0 ? "?" : fmt::format("{:.4g}", static_cast<double>(rate) / 1e9);
}

std::string through_switch(const Machine& machine) {
  std::map<BitsPerSecond, std::vector<int>> gpus;
  for (const GpuLink& link : machine.gpu_links)
    if (link.b == kNone) gpus[link.rate].push_back(link.a);
  std::string text;
  for (auto& [rate, list] : gpus) {
    std::sort(list.begin(), list.end());
    text += fmt::format("GPUs {} reach each other through a switch{}\n", format_cpu_list(list),
                        rate == 0 ? "" : fmt::format(", at {} each", rounded_rate(rate)));
  }
  return text;
}

std::string table(const Machine& machine, const std::map<std::pair<int, int>, BitsPerSecond>& rates) {
  const int gpus = static_cast<int>(machine.gpus.size());
  std::string text = "Links between GPUs, in Gb/s\n    ";
  for (int b = 0; b < gpus; ++b) text += fmt::format("{:>5}", b);
  text += "\n";
  for (int a = 0; a < gpus; ++a) {
    text += fmt::format("{:>4}", a);
    for (int b = 0; b < gpus; ++b) {
      const auto link = rates.find(std::minmax(a, b));
      text += fmt::format("{:>5}", a == b ? "-" : link == rates.end() ? "." : gigabits(link->second));
    }
    text += "\n";
  }
  return text;
}

}  // namespace

std::string describe_gpu_links(const Machine& machine) {
  std::map<std::pair<int, int>, BitsPerSecond> rates;
  for (const GpuLink& link : machine.gpu_links)
    if (link.b != kNone) rates[std::minmax(link.a, link.b)] = link.rate;
  std::string text = through_switch(machine);
  if (rates.empty()) return text;
  if (machine.gpus.size() <= kTableGpusMax) return text + table(machine, rates);
  for (const auto& [ends, rate] : rates)
    text += fmt::format("GPU {} - GPU {}: {} Gb/s\n", ends.first, ends.second, gigabits(rate));
  return text;
}

}  // namespace strata::topo
