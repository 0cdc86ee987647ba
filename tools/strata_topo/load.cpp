#include "tools/strata_topo/load.hpp"

#include "ccl/topology/import.hpp"
#include "ccl/topology/read_file.hpp"
#include "ccl/topology/topology_file.hpp"

namespace strata::topo {
namespace {

bool looks_like_xml(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != text.npos && text[first] == '<';
}

}  // namespace

Expected<topology::Discovery> load(const std::string& path) {
  if (path.empty()) return topology::discover();
  const auto text = topology::read_file(path);
  if (!text) return text.status();
  auto read = looks_like_xml(*text) ? topology::import_xml(path) : topology::parse_topology(*text, path);
  if (!read) return read.status();
  return topology::Discovery{std::move(*read), {}};
}

Expected<topology::Discovery> load_xml(const std::string& path) {
  auto read = topology::import_xml(path);
  if (!read) return read.status();
  return topology::Discovery{std::move(*read), {}};
}

}  // namespace strata::topo
