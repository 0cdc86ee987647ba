#include "ccl/topology/topology_file.hpp"

#include <algorithm>
#include <set>

#include "ccl/topology/hierarchy.hpp"
#include "ccl/topology/host_names.hpp"
#include "ccl/topology/machine_file.hpp"
#include "ccl/topology/read_file.hpp"
#include "ccl/topology/toml_fields.hpp"

namespace strata::topology {

const char* const kTopologyFileExample =
    R"(levels = ["rack", "row"]      # groups of hosts, from the inside out

[[group]]
name = "row1"
level = "row"

[[group]]
name = "rack1"
level = "rack"
in = "row1"
oversubscription = 2          # its hosts can send twice what its uplink carries

[[rail]]
name = "rail0"                # a network that joins one card of each host

[[machine]]
name = "box"                  # what its hosts have; all of it may be left out
nics = [{name = "eth0", rate = "100 Gb/s", rail = "rail0"}]

[[host]]
name = "node[00-15]"          # 16 hosts
machine = "box"
slots = 8                     # ranks it may have
in = "rack1"
)";

namespace {

template <class Items>
std::vector<std::string> names_of(const Items& items) {
  std::vector<std::string> names;
  for (const auto& item : items) names.push_back(item.name);
  return names;
}

class Reader final {
 public:
  Reader(const toml::table& root, const std::string& path)
      : path_(path),
        file_(path),
        root_(file_, root, "the file", {"levels", "group", "rail", "machine", "host", "cost"}) {}

  Expected<TopologyFile> run() {
    read_levels();
    read_groups();
    for (const toml::table* table : root_.tables("rail")) {
      Fields f(file_, *table, "[[rail]]", {"name", "oversubscription"});
      topology_.rails.push_back({new_name(f, topology_.rails), f.oversubscription()});
    }
    const auto rails = names_of(topology_.rails);
    for (const toml::table* table : root_.tables("machine")) {
      Machine machine = read_machine(file_, *table, rails);
      if (contains(topology_.machines, machine.name))
        file_.fail(*table,
                   fmt::format("[[machine]]: name = '{}': there is one of that name already; give it another",
                               machine.name));
      topology_.machines.push_back(std::move(machine));
    }
    read_hosts();
    read_costs();
    if (topology_.hosts.empty())
      root_.fail("host",
                 "there are no hosts; add a [[host]] with a name for each, or name = \"node[00-15]\"");
    if (!file_.status().ok()) return file_.status();
    return TopologyFile{path_, std::move(topology_), std::move(host_lines_)};
  }

 private:
  template <class Items>
  static bool contains(const Items& items, const std::string& name) {
    return std::any_of(items.begin(), items.end(), [&](const auto& item) { return item.name == name; });
  }

  template <class Items>
  static std::string new_name(Fields& f, const Items& items) {
    std::string name = f.required_text("name");
    if (contains(items, name))
      f.fail("name", fmt::format("name = '{}': there is one of that name already; give it another", name));
    return name;
  }

  static bool is_host_level(const std::string& name) {
    return name == kWholeLevel ||
           std::find(std::begin(kHostLevels), std::end(kHostLevels), name) != std::end(kHostLevels);
  }

  // Lines of text name levels.
  static bool is_name(const std::string& level) {
    return !level.empty() &&
           std::none_of(level.begin(), level.end(), [](unsigned char c) { return c < ' '; });
  }

  void read_levels() {
    topology_.levels = root_.texts("levels");
    std::set<std::string> seen;
    for (const std::string& level : topology_.levels)
      if (is_host_level(level) || !is_name(level) || !seen.insert(level).second)
        root_.fail("levels", fmt::format("levels has '{}', which {}; give it another name", level,
                                         !is_name(level)        ? "is no name"
                                         : is_host_level(level) ? "is a level that all topologies have"
                                                                : "is there twice"));
  }

  void read_groups() {
    const auto tables = root_.tables("group");
    std::vector<Fields> fields;
    for (const toml::table* table : tables) {
      fields.emplace_back(file_, *table, "[[group]]",
                          std::initializer_list<std::string_view>{"name", "level", "in", "oversubscription"});
      Fields& f = fields.back();
      const std::string name = new_name(f, topology_.groups);
      f.required_text("level");
      topology_.groups.push_back(
          {name, f.reference("level", topology_.levels, "level (of 'levels')"), kNone, f.oversubscription()});
    }
    const auto names = names_of(topology_.groups);
    for (std::size_t i = 0; i < fields.size(); ++i)
      topology_.groups[i].parent = fields[i].reference("in", names, "[[group]]");
    for (std::size_t i = 0; i < fields.size(); ++i) check_not_in_itself(static_cast<int>(i), fields[i]);
    for (std::size_t i = 0; i < fields.size(); ++i) check_level(static_cast<int>(i), fields[i]);
  }

  const Group& group(int index) const { return topology_.groups[static_cast<std::size_t>(index)]; }

  void check_not_in_itself(int index, Fields& f) {
    std::string chain = group(index).name;
    std::size_t steps = 0;
    for (int up = group(index).parent; up != kNone && steps++ <= topology_.groups.size();
         up = group(up).parent) {
      if (steps < 8) chain += " in " + group(up).name;
      if (up == index)
        return f.fail("in", fmt::format("{}: a group cannot be in itself; take one 'in' away", chain));
    }
  }

  void check_level(int index, Fields& f) {
    const int parent = group(index).parent;
    if (!file_.status().ok() || parent == kNone || group(parent).level > group(index).level) return;
    f.fail("in",
           fmt::format("'{}' is a {} and in '{}', which is a {}; it must be in one of a level that 'levels' "
                       "names later",
                       group(index).name, level_name(index), group(parent).name, level_name(parent)));
  }

  const std::string& level_name(int index) const {
    return topology_.levels[static_cast<std::size_t>(group(index).level)];
  }

  void read_hosts() {
    const auto groups = names_of(topology_.groups), machines = names_of(topology_.machines);
    std::set<std::string> seen;
    for (const toml::table* table : root_.tables("host")) {
      Fields f(file_, *table, "[[host]]", {"name", "machine", "slots", "in"});
      const auto names = expand_names(f.required_text("name"));
      if (!names) return f.fail("name", std::string(names.status().message()));
      const Host like{"", f.reference("machine", machines, "[[machine]]"), f.integer("slots", 1, 1 << 20, 0),
                      f.reference("in", groups, "[[group]]")};
      for (const std::string& name : *names) {
        if (!seen.insert(name).second)
          return f.fail("name", fmt::format("host '{}' is there twice; name each once", name));
        topology_.hosts.push_back(like);
        topology_.hosts.back().name = name;
        host_lines_.push_back(static_cast<int>(table->source().begin.line));
      }
      if (topology_.hosts.size() > kHostsMax)
        return f.fail("name", fmt::format("there are more than {} hosts; leave some out", kHostsMax));
    }
  }

  void read_costs() {
    std::vector<std::string> levels(std::begin(kHostLevels), std::end(kHostLevels));
    levels.insert(levels.end(), topology_.levels.begin(), topology_.levels.end());
    levels.emplace_back(kWholeLevel);
    for (const toml::table* table : root_.tables("cost")) {
      Fields f(file_, *table, "[[cost]]", {"level", "medium", "latency", "rate"});
      const std::string level = f.required_text("level");
      f.reference("level", levels, "level");
      topology_.costs.push_back({level, f.required_text("medium"),
                                 static_cast<std::int64_t>(f.quantity("latency", time_units())),
                                 f.quantity("rate", rate_units())});
    }
  }

  const std::string path_;
  Toml file_;
  Fields root_;
  Topology topology_;
  std::vector<int> host_lines_;
};

}  // namespace

Expected<TopologyFile> parse_topology_file(std::string_view text, const std::string& path) {
  toml::table root;
  try {
    root = toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    return Status(ErrorCode::invalid_argument, fmt::format("{}:{}: this is no TOML: {}", path,
                                                           error.source().begin.line, error.description()));
  }
  return Reader(root, path).run();
}

Expected<Topology> parse_topology(std::string_view text, const std::string& path) {
  auto file = parse_topology_file(text, path);
  if (!file) return file.status();
  return std::move(file->topology);
}

Expected<Topology> read_topology(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return text.status();
  return parse_topology(*text, path);
}

}  // namespace strata::topology
