// Messages of a rank to itself: the two ends meet here and are copied.
#pragma once
#include <memory>

#include "ccl/transport/transport.hpp"

namespace strata {

// Serves one peer, the rank itself. Whatever comes second does the copy.
std::unique_ptr<Transport> make_self_transport();

}  // namespace strata
