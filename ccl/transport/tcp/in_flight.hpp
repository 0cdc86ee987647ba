// The bytes of a connection that were written and that the peer's host has not acknowledged: nothing
// overtakes them, so there is a limit to them, which follows the path.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "ccl/transport/tcp/credit.hpp"

namespace strata::tcp {

// Costs no system call while there is certainly room, else one for many writes.
class InFlight final {
 public:
  // The socket and its name, for the log, outlive it. pins: null: no limit, for the loopback, which is
  // through with everything in no time.
  InFlight(int socket, std::string_view name, const CreditPins* pins);

  // How many of so many bytes may be written now. Fewer than wanted: the socket becomes writable, as poll(2)
  // has it, when there is room for more.
  std::size_t room(std::size_t wanted);
  void wrote(std::size_t bytes);
  // There was more to write than went. Now and then it adapts the limit.
  void used_up();

  bool limited() const { return limited_; }
  const Credit& credit() const { return credit_; }

 private:
  static constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();
  void apply();

  const int socket_;
  const std::string_view name_;
  const bool limited_;
  Credit credit_;
  std::size_t told_ = 0;     // the credit that the log has
  std::size_t applied_ = 0;  // the credit that the limit was made of
  std::size_t limit_ = kUnlimited;
  std::size_t under_way_max_ = 0;  // there are no more than that
  std::size_t since_update_ = 0;   // bytes written
  bool waited_ = false;            // for room, and nothing was written since
};

}  // namespace strata::tcp
