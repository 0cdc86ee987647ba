// The command line that all programs of this folder share.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace strata::compare {

enum class Collective : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  reduce,
  all_to_all,
  barrier,
  ping_pong,  // point to point, of ranks 0 and 1
  send
};
std::string_view to_string(Collective collective);

struct Arguments {
  Collective collective = Collective::all_reduce;
  std::vector<std::uint64_t> sizes;  // bytes
  double seconds = 0.15;             // for the samples of a size
  int samples_min = 9;               // taken even if they need longer
  bool touched = false;              // buffers are touched before each sample, which then is one call
  std::map<std::string, std::string> own;

  // The value of an option that only this program has.
  std::string own_or(const std::string& name, const std::string& otherwise) const;
};

// --NAME VALUE pairs. own_names: further options that the program has. Says what is wrong and exits with 2 if
// it cannot be understood.
Arguments parse_arguments(int argc, char** argv, const std::vector<std::string>& own_names);

}  // namespace strata::compare
