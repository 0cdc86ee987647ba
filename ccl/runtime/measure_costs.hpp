// Measures what messages and local work cost, in a few milliseconds.
#pragma once
#include "ccl/planner/cost_model.hpp"
#include "strata/communicator.hpp"

namespace strata {

// What a pair of ranks finds: half a round trip of a few bytes, and the rate of two streams at once, one each
// way, as most collectives have them.
struct LinkTimes {
  double message_ps = 0;  // from the call of send to the end of recv
  double ps_per_kib = 0;  // 1024 bytes each way
};

// Collective over a pair of ranks, of which the lower one leads. patience: 1 takes about 2.4 ms, more takes
// as many times as long, for times that disturb less. Error: as of send and recv, which have timeout_ms
// without progress.
Expected<LinkTimes> measure_link(Communicator& communicator, Rank peer, LinkKind kind,
                                 std::uint32_t timeout_ms, unsigned patience = 1);

// What link_cost() takes for `usual`.
LinkTimes usual_times(LinkKind kind, const LinkCost& usual);

// A ping-pong cannot tell the two ends and the way between them apart: within a host they have the shares of
// `usual`, between hosts the CPU's work is as usual and the rest is the wire. Times of more than 16 times the
// usual or less than a 16th count as so much: the machine was busy with something else.
LinkCost link_cost(LinkKind kind, LinkTimes times, const LinkCost& usual);

// Copies and sums data that fit into the caches.
LocalCost measure_local(const LocalCost& usual);

}  // namespace strata
