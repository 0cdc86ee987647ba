#include "ccl/runtime/names.hpp"

#include <fmt/format.h>

namespace strata {

Expected<std::uint64_t> Names::next(std::string_view name, std::uint64_t bits, Rank peer) {
  const std::uint64_t identity = name_bits(name);
  const std::lock_guard lock(mutex_);
  const auto known = names_.try_emplace(identity, name).first;
  if (known->second != name)
    return Status(ErrorCode::invalid_argument,
                  fmt::format("the names '{}' and '{}' have the same identity ({:x}); change one of them",
                              known->second, name, identity >> kCallBits));
  return with_call(identity | bits, calls_[{identity | bits, peer}].called++);
}

const Names::Calls* Names::find(std::uint64_t number, Rank peer) const {
  const auto found = calls_.find({without_call(number), peer});
  return found == calls_.end() ? nullptr : &found->second;
}

std::uint64_t Names::calls(std::uint64_t number, Rank peer) const {
  const std::lock_guard lock(mutex_);
  const Calls* calls = find(number, peer);
  return calls ? calls->called : 0;
}

std::string Names::name_of(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  const auto found = names_.find(number & (kNamed | kNameMask));
  return found == names_.end() ? "?" : found->second;
}

void Names::start(std::uint64_t number, const Fingerprint& fingerprint) {
  const std::lock_guard lock(mutex_);
  Calls& calls = calls_[{without_call(number), kNoRank}];
  ++calls.started;
  calls.recent = fingerprint;
}

bool Names::started(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  const Calls* calls = find(number, kNoRank);
  return calls && is_before(count_of(number), calls->started);
}

std::uint64_t Names::starts(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  const Calls* calls = find(number, kNoRank);
  return calls ? calls->started : 0;
}

std::optional<Fingerprint> Names::recent(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  const Calls* calls = find(number, kNoRank);
  if (!calls || count_of(number) != ((calls->started - 1) & kCallMask)) return std::nullopt;
  return calls->recent;
}

std::vector<std::uint64_t> Names::not_started() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t> numbers;
  for (const auto& [key, calls] : calls_)
    if (!is_point_to_point(key.first)) numbers.push_back(with_call(key.first, calls.started));
  return numbers;
}

}  // namespace strata
