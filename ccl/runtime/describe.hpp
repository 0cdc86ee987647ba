// Words for people: what an operation is, as error messages name it.
#pragma once
#include <cstdint>
#include <string>

#include "ccl/transport/transport.hpp"

namespace strata {

struct CommunicatorState;

// "all_reduce(count 1024, float32, sum)"; tolerates values no rank of ours would send.
std::string describe(const Fingerprint& fingerprint);
// "all_reduce #17", "send/recv", or with the name that it has: "all_reduce 'bias' #3".
std::string operation_name(const CommunicatorState& communicator, const Fingerprint& fingerprint,
                           std::uint64_t operation);

}  // namespace strata
