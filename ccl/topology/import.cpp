#include "ccl/topology/import.hpp"

#include <filesystem>
#include <pugixml.hpp>

#include "ccl/topology/hwloc_machine.hpp"
#include "ccl/topology/nccl_xml.hpp"
#include "ccl/topology/read_file.hpp"

namespace strata::topology {
namespace {

bool is_hwloc(const std::string& text) {
  pugi::xml_document document;
  return document.load_buffer(text.data(), text.size()) &&
         std::string_view(document.document_element().name()) == "topology";
}

}  // namespace

Expected<Topology> import_xml(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return text.status();
  auto machine = is_hwloc(*text) ? hwloc_machine(path) : parse_nccl_xml(*text, path);
  if (!machine) return machine.status();
  machine->name = std::filesystem::path(path).stem().string();
  Topology topology;
  topology.hosts.push_back({machine->name, 0, 0, kNone});
  topology.machines.push_back(std::move(*machine));
  return topology;
}

}  // namespace strata::topology
