// What a rank tells the others of where it sits and of what it was told, as text.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "ccl/topology/topology.hpp"

namespace strata {

struct PlaceReport {
  int gpu = topology::kNone;  // index into those of its host
  std::string levels;         // by hand; empty: not
  std::string file;           // the topology file's path; empty: none was given
  std::string file_error;     // why it cannot be read
  std::string file_hash;
  // Of the machine's description, if this rank tells its host's; empty: it does not, or does not know it.
  std::string machine_hash;
  friend bool operator==(const PlaceReport&, const PlaceReport&) = default;
};

std::string to_text(const PlaceReport& report);
// nullopt: it is not as to_text() writes it. Any text may be given.
std::optional<PlaceReport> parse_place_report(std::string_view text);

}  // namespace strata
