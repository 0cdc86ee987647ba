// Running an io_context from calls that block: until something is done or a time has come, and without
// exceptions.
#pragma once
#include <fmt/format.h>

#include <asio.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <new>

#include "strata/status.hpp"

namespace strata::rendezvous {

using Clock = std::chrono::steady_clock;

// One event, or none until the given time. Callers look anew at what they wait for after each.
inline void run_one(asio::io_context& context, Clock::time_point until) {
  context.restart();
  context.run_one_until(until);
}

inline std::uint32_t milliseconds_left(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return left > 0 ? static_cast<std::uint32_t>(left) : 0;
}

inline std::uint32_t milliseconds_since(Clock::time_point begin) {
  return static_cast<std::uint32_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count());
}

// For co_spawn: what a coroutine throws leaves the context's run functions, and guarded() makes a Status of
// it.
inline constexpr auto rethrow = [](const std::exception_ptr& thrown) {
  if (thrown) std::rethrow_exception(thrown);
};

// Asio throws when there is no memory or no descriptor for its own needs.
template <class Call>
auto guarded(Call call) -> decltype(call()) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::out_of_memory, "the rendezvous found no memory");
  } catch (const std::exception& thrown) {
    return Status(ErrorCode::unavailable, fmt::format("the rendezvous failed: {}", thrown.what()));
  }
}

}  // namespace strata::rendezvous
