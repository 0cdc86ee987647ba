// The other ranks of a run: the one place where the trainer meets the communicator. A run of one rank has
// none.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "strata/communicator.hpp"

namespace strata::trainer {

class Peers final {
 public:
  Peers() = default;  // alone
  explicit Peers(Communicator communicator) : communicator_(std::move(communicator)) {}
  // As the environment says (RANK, WORLD_SIZE, STRATA_*): alone if it names no size, or one rank. Errors:
  // those of Communicator::create. trace: a file for the timeline; empty: as the environment says.
  static Expected<Peers> from_environment(const std::string& trace);

  int rank() const { return communicator_ ? communicator_->rank() : 0; }
  int size() const { return communicator_ ? communicator_->size() : 1; }

  // values become their sum over all ranks, when the Work has ended. Of several under way, those of higher
  // priority go first.
  Work sum(std::span<float> values, std::int32_t priority = 0);
  Work sum(std::span<double> values, std::int32_t priority = 0);

  // Every rank brings how it fared; the result is bad at all ranks if it is at one. The lowest rank that
  // failed gets its own status back, the others one that names it.
  Status agree(const Status& mine);
  // Is `value` the same everywhere? If not, an error at all ranks that says what differs.
  Status expect_equal(std::uint64_t value, std::string_view what);
  // Ranks on this host, this one included. Collective.
  Expected<int> ranks_on_host();
  Status barrier();

 private:
  std::optional<Communicator> communicator_;
};

}  // namespace strata::trainer
