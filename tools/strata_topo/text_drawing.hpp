// A topology drawn with characters, for terminals.
#pragma once
#include <string>

#include "ccl/topology/topology.hpp"

namespace strata::topo {

struct TextStyle {
  int width = 80;      // columns
  bool ascii = false;  // frames of - | + instead of lines
};

// The cluster, if there is more than one host, and each kind of machine once. Ends with a newline.
std::string draw_text(const topology::Topology& topology, const TextStyle& style);

// How many columns it takes: characters of UTF-8.
int columns(const std::string& text);

}  // namespace strata::topo
