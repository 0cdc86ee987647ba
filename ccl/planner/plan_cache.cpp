#include "ccl/planner/plan_cache.hpp"

namespace strata {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {  // splitmix64's finaliser over a running state
  std::uint64_t z = (hash ^ value) + 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

std::size_t PlanCache::Hash::operator()(const PlanKey& key) const {
  const Request& r = key.request;
  const std::uint64_t kind =
      static_cast<std::uint64_t>(r.collective) | static_cast<std::uint64_t>(r.type) << 8 |
      static_cast<std::uint64_t>(r.op) << 16 | static_cast<std::uint64_t>(r.in_place) << 24 |
      static_cast<std::uint64_t>(static_cast<std::uint32_t>(r.root)) << 32;
  std::uint64_t hash = mix(kind, r.count);
  hash = mix(hash, reinterpret_cast<std::uintptr_t>(key.algorithm));
  for (const std::uint64_t count : r.counts) hash = mix(hash, count);
  for (const std::uint64_t count : r.recv_counts) hash = mix(hash, count);
  return hash;
}

std::shared_ptr<const Plan> PlanCache::find(const PlanKey& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  by_age_.splice(by_age_.begin(), by_age_, found->second.age);
  return found->second.plan;
}

void PlanCache::insert(const PlanKey& key, std::shared_ptr<const Plan> plan) {
  const auto [at, fresh] = entries_.try_emplace(key);
  if (!fresh) return;
  by_age_.push_front(&at->first);
  at->second = {std::move(plan), by_age_.begin()};
  if (entries_.size() <= kPlansMax) return;
  const PlanKey oldest = *by_age_.back();
  by_age_.pop_back();
  entries_.erase(oldest);
}

}  // namespace strata
