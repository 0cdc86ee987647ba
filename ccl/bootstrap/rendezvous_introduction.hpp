// Who a party of the rendezvous is, as it says itself, in JSON.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "strata/status.hpp"

namespace strata::rendezvous {

struct Introduction {
  std::string version;  // of the library: all ranks must run the same
  int rank = 0;
  int size = 0;
  std::string host;
  int pid = 0;
  std::uint32_t milliseconds_left = 0;  // until its own deadline; the job's is the earliest

  friend bool operator==(const Introduction&, const Introduction&) = default;
};

// This process, in its place.
Introduction introduce(int rank, int size, std::uint32_t milliseconds_left);

std::string to_json(const Introduction& introduction);
// Error: mismatch that names the field. Any text may be given.
Expected<Introduction> parse_introduction(std::string_view json);

// "rank 3 (node7, pid 123)"
std::string describe(const Introduction& introduction);

}  // namespace strata::rendezvous
