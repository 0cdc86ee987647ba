#include "ccl/runtime/communicator_state.hpp"

namespace strata {

bool CommunicatorState::left_before(int index, std::uint64_t number) const {
  const auto i = static_cast<std::size_t>(index);
  if (left_at[i] == kPresent) return false;
  if (!is_named(number)) return left_at[i] <= number;
  const auto next = left_names[i].find(without_call(number));
  return next == left_names[i].end() || !is_before(count_of(number), next->second);
}

void CommunicatorState::start(std::uint64_t number, const Fingerprint& fingerprint) {
  if (is_named(number)) return names.start(number, fingerprint);
  started = number + 1;
  recent[number % kRecentOperations] = fingerprint;
}

bool CommunicatorState::has_started(std::uint64_t number) const {
  return is_named(number) ? names.started(number) : number < started;
}

std::uint64_t CommunicatorState::calls_like(std::uint64_t number, Rank peer) const {
  if (is_named(number)) return is_point_to_point(number) ? names.calls(number, peer) : names.starts(number);
  if (!is_point_to_point(number)) return started;
  return (goes_out(number, me(), peer) ? next_send : next_recv)[static_cast<std::size_t>(peer)];
}

std::optional<Fingerprint> CommunicatorState::recently_called(std::uint64_t number) const {
  if (!has_started(number)) return std::nullopt;
  if (is_named(number)) return names.recent(number);
  if (started - number > kRecentOperations) return std::nullopt;
  return recent[number % kRecentOperations];
}

}  // namespace strata
