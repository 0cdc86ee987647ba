#include "ccl/transport/tcp/credit.hpp"

#include <algorithm>
#include <cmath>

namespace strata::tcp {
namespace {

// Time in queues that so many bytes accept: by the square root, so that of two with unequal credits each step
// halves the ratio, and the delay falls slowly where links are fast.
double queue_us(std::size_t bytes) {
  const double share = static_cast<double>(Credit::kBytesFirst) / static_cast<double>(bytes);
  return std::clamp(static_cast<double>(Credit::kQueueUs) * std::sqrt(share),
                    static_cast<double>(Credit::kQueueUsMin), static_cast<double>(Credit::kQueueUsMax));
}

}  // namespace

Credit::Credit(const CreditPins& pins)
    : pins_(pins), bytes_(pins.credit_bytes > 0 ? pins.credit_bytes : kBytesFirst) {}

std::size_t Credit::fragment_bytes() const {
  if (pins_.fragment_bytes > 0) return pins_.fragment_bytes;
  constexpr std::size_t kElementBytesMax = 16;
  return std::clamp(bytes_ / 4 / kElementBytesMax * kElementBytesMax, kFragmentBytesMin, kFragmentBytesMax);
}

void Credit::update(const PathView& view) {
  if (pinned() || view.rtt_us == 0 || view.flying_bytes == 0) return;
  const auto bytes = static_cast<double>(bytes_);
  const double accepted_us = queue_us(bytes_);
  double gain = (view.min_rtt_us + accepted_us) / view.rtt_us;
  // On a long way that is not full yet this would take many round trips.
  if (view.rtt_us < view.min_rtt_us + accepted_us / 2) gain = std::max(gain, 2.0);
  const double goal = gain * static_cast<double>(view.flying_bytes);
  const double next = std::min((bytes + goal) / 2, 2 * bytes);
  bytes_ = static_cast<std::size_t>(
      std::clamp(next, static_cast<double>(kBytesMin), static_cast<double>(kBytesMax)));
}

}  // namespace strata::tcp
