// From the arguments of an API call to a checked Submission.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "ccl/runtime/operation.hpp"
#include "strata/estimate.hpp"
#include "strata/options.hpp"
#include "strata/status.hpp"
#include "strata/types.hpp"

namespace strata {

// The arguments of any collective, or of send (input) and recv (output); the unused ones stay as they are.
struct Call {
  Collective collective = Collective::barrier;
  const void* input = nullptr;
  void* output = nullptr;
  std::uint64_t count = 0;
  DataType type = DataType::uint8;
  ReduceOp op = ReduceOp::sum;
  Rank root = kNoRank;  // or the peer of send and recv
  bool v = false;       // counts are given, one a rank
  std::span<const std::uint64_t> counts = {}, recv_counts = {};
};

// What a call has been found to be.
struct Checked {
  bool in_place = false;
  double scale = 1.0;  // as the reduction kernels want it
};

// Checks the arguments. Error: as below.
Expected<Checked> check(const CommunicatorState& communicator, const Call& call, const CallOptions& options);

// Could it be done at once, without a Submission: one of the smallest collectives on the group's memory?
bool small_and_local(const CommunicatorState& communicator, const Call& call, const CallOptions& options);

// The fingerprint of a call that needs no algorithm: a group does it, or it is one message.
Fingerprint plain_fingerprint(const Call& call, const CallOptions& options);

// Checks everything this rank can know. Error: invalid_argument that names the argument, its value and the
// cure. The submission has no number and no work yet.
Expected<std::unique_ptr<Submission>> prepare(const std::shared_ptr<CommunicatorState>& communicator,
                                              const Call& call, const CallOptions& options);

// What such a call would take (Communicator::estimate); its buffers are not looked at.
Expected<std::vector<Estimate>> estimate(const CommunicatorState& communicator, const Call& call,
                                         const CallOptions& options);

}  // namespace strata
