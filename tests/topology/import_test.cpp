// Files of either kind are told apart.
#include "ccl/topology/import.hpp"

#include <catch2/catch.hpp>

#include "ccl/topology/hierarchy.hpp"
#include "tests/topology/folder_tree.hpp"

namespace strata::topology::test {
namespace {

using Catch::Matchers::Contains;

std::string data(const std::string& name) { return std::string(STRATA_TOPOLOGY_DATA) + "/" + name; }

TEST_CASE("a file becomes one host with the file's name") {
  const auto nccl = import_xml(data("nccl_v100_cube_mesh.xml"));
  REQUIRE(nccl.ok());
  CHECK(nccl->hosts == std::vector<Host>{{"nccl_v100_cube_mesh", 0, 0, kNone}});
  CHECK(nccl->machines.at(0).gpus.size() == 8);
  const auto hwloc = import_xml(data("hwloc_two_packages.xml"));
  REQUIRE(hwloc.ok());
  CHECK(hwloc->machines.at(0).packages.size() == 2);
}

TEST_CASE("what cannot be read or is neither is refused by name") {
  const FolderTree tree;
  const auto refused = [](const std::string& path) {
    const auto read = import_xml(path);
    REQUIRE(!read.ok());
    return std::string(read.status().message());
  };
  CHECK_THAT(refused("/no/such.xml"), Contains("cannot read /no/such.xml: No such file"));
  CHECK_THAT(refused(tree.root().string()), Contains("it is a folder"));
  CHECK_THAT(refused(tree.write("a.xml", "\n<html/>")), Contains("a.xml:2: the first element is <html>"));
  CHECK_THAT(refused(tree.write("b.xml", "levels = 3")), Contains("b.xml:1: this is no XML"));
  CHECK_THAT(refused(tree.write("c.xml", "<topology version=\"9.0\"/>")),
             Contains("c.xml is not XML of hwloc"));
}

}  // namespace
}  // namespace strata::topology::test
