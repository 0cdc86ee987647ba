// How a connection between two ranks is set up in the kernel.
#pragma once
#include <cstdint>
#include <string>

#include "ccl/base/fd.hpp"
#include "strata/status.hpp"

namespace strata::tcp {

// A peer whose machine does not answer for so long is lost. It must be long: a receiver that is stopped, in a
// debugger say, does not answer either once its window is full.
inline constexpr int kSilenceMs = 120'000;

// Error: what is needed to work. Options that only help are left out, silently, where the system refuses
// them.
Status set_options(const Fd& socket, bool same_host);

// Its packets leave by this interface whatever the routes say, so that rails in one network stay apart.
// false: not allowed (before Linux 5.7 without CAP_NET_RAW).
bool stay_on(const std::string& interface, int socket);

}  // namespace strata::tcp
