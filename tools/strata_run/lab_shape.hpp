// What --lab asks for: "2x4@1gbit".
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "strata/status.hpp"

namespace strata::run {

// HOSTSxRANKS or R+R+... (the ranks of each host), then @ and the rates: one for all, or one a host,
// separated by
// ','; of several rails of a host, separated by ':'.
struct LabShape {
  std::vector<int> ranks;                       // of each host
  std::vector<std::vector<std::string>> rates;  // of each host's rails, as tools/lab takes them; empty: none
};

// Whether a rate is one, tools/lab says. Error: invalid_argument, with an example. Pure.
Expected<LabShape> parse_lab_shape(std::string_view text);

}  // namespace strata::run
