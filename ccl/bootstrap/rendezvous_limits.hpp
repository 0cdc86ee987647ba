// What is too much for the rendezvous.
#pragma once
#include <string_view>

#include "strata/status.hpp"

namespace strata::rendezvous {

// May this process open a connection to every rank? Error: unavailable with the limit and the need.
Status check_descriptor_limit(int ranks);

// Does it fit into a message? Error: invalid_argument with its size.
Status check_contribution(std::string_view bytes);

}  // namespace strata::rendezvous
