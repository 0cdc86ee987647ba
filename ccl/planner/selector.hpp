// Which algorithm serves a call: a pure function of what all ranks know, so they agree without talking.
#pragma once
#include <string_view>

#include "ccl/algorithms/algorithm.hpp"
#include "strata/status.hpp"

namespace strata {

struct Choice {
  const Algorithm* algorithm = nullptr;
  Tuning tuning;
};

// `wanted` forces an algorithm by name where the catalog has it for this collective; empty selects by size.
// `required`: the name comes from this very call, so it is an error (invalid_argument, naming the choices) if
// the algorithm does not exist or does not support the request; otherwise (a communicator's default) it is
// passed over.
Expected<Choice> select(const Request& request, const Group& group, std::string_view wanted, bool required);

// Bytes of the whole data a collective is about: what sizes are compared with.
std::uint64_t data_bytes(const Request& request, int size);

}  // namespace strata
