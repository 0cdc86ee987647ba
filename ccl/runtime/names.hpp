// The operations of one communicator that have names: how often each was called, and started.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ccl/runtime/operation_number.hpp"
#include "ccl/transport/transport.hpp"
#include "strata/status.hpp"

namespace strata {

// Names are kept for as long as the communicator lives. peer: of a message, the other rank; else kNoRank.
class Names final {
 public:
  // Any thread
  // The number of the next call of the name; bits: message_bits(), or 0. Error: another name has the same
  // identity, which both the message and the cure name.
  Expected<std::uint64_t> next(std::string_view name, std::uint64_t bits, Rank peer);
  // How often it was called here.
  std::uint64_t calls(std::uint64_t number, Rank peer) const;
  std::string name_of(std::uint64_t number) const;  // "?": never called here

  // The engine's owner, of collectives
  void start(std::uint64_t number, const Fingerprint& fingerprint);
  // Has this call been started here? Then so have all before it.
  bool started(std::uint64_t number) const;
  std::uint64_t starts(std::uint64_t number) const;
  // What it was; nothing: it is not the last of its name that was started.
  std::optional<Fingerprint> recent(std::uint64_t number) const;
  // Of each name, the number of the first call that has not been started.
  std::vector<std::uint64_t> not_started() const;

 private:
  struct Calls {
    std::uint64_t called = 0, started = 0;
    Fingerprint recent;
  };
  using Key = std::pair<std::uint64_t, Rank>;  // without_call(number), peer
  const Calls* find(std::uint64_t number, Rank peer) const;

  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::string> names_;  // by name_bits()
  std::map<Key, Calls> calls_;
};

}  // namespace strata
