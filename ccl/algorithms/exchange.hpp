// Reduce-scatters and all-gathers of exchanges, one after another, on the same data and at several levels.
#pragma once
#include <functional>
#include <map>
#include <vector>

#include "ccl/algorithms/ownership.hpp"
#include "ccl/algorithms/writer.hpp"

namespace strata {

// Where elements lie.
using Where = std::function<Slice(const Interval&)>;

class Exchanger final {
 public:
  // How ranks that exchange go about it. `direct` is taken too where shares are unequal, which needs it.
  enum class Pattern : std::uint8_t {
    ring,    // in many rounds, each a message a neighbour
    pat,     // in few rounds
    direct,  // everybody with everybody: sums are rounded once an exchange
  };
  Exchanger(Writer& writer, Pattern pattern) : writer_(writer), pattern_(pattern) {}

  // Sum of what the exchange's ranks have in `from`; each rank's own shares go to `mine`, partial sums of
  // others' through `passing`. `last`: the sums are complete, and get the operation's last scaling.
  void reduce_scatter(const Exchange& exchange, const Where& from, const Where& passing, const Where& mine,
                      bool last);
  void all_gather(const Exchange& exchange, const Where& data);

 private:
  Pattern pattern_of(const Exchange& exchange) const { return exchange.unequal ? Pattern::direct : pattern_; }
  Slots& sums_of(const Group& group, std::uint64_t longest);

  Writer& writer_;
  const Pattern pattern_;
  struct Sums {
    std::uint64_t longest;
    Slots slots;
  };
  std::map<std::vector<Rank>, Sums> sums_;  // of direct exchanges, by who takes part
};

}  // namespace strata
