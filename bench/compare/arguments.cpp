#include "bench/compare/arguments.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

namespace strata::compare {
namespace {

constexpr std::array<std::string_view, 9> kNames = {"all_reduce", "all_gather", "reduce_scatter",
                                                    "broadcast",  "reduce",     "all_to_all",
                                                    "barrier",    "ping_pong",  "send"};

[[noreturn]] void refuse(const std::string& what) {
  std::fprintf(
      stderr,
      "%s\nUsage: --collective NAME --sizes BYTES,... [--seconds S] [--samples-min N] [--touched 0|1]\n",
      what.c_str());
  std::exit(2);
}

Collective collective_named(const std::string& name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) refuse("--collective: '" + name + "' is none");
  return static_cast<Collective>(found - kNames.begin());
}

std::vector<std::uint64_t> sizes_in(const std::string& list) {
  std::vector<std::uint64_t> sizes;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    sizes.push_back(std::strtoull(list.substr(at, end - at).c_str(), nullptr, 10));
    at = end + 1;
  }
  return sizes;
}

}  // namespace

std::string_view to_string(Collective collective) { return kNames[static_cast<std::size_t>(collective)]; }

std::string Arguments::own_or(const std::string& name, const std::string& otherwise) const {
  const auto found = own.find(name);
  return found == own.end() ? otherwise : found->second;
}

Arguments parse_arguments(int argc, char** argv, const std::vector<std::string>& own_names) {
  Arguments a;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) refuse(name + " needs a value");
    const std::string value = argv[i + 1];
    if (name == "--collective")
      a.collective = collective_named(value);
    else if (name == "--sizes")
      a.sizes = sizes_in(value);
    else if (name == "--seconds")
      a.seconds = std::atof(value.c_str());
    else if (name == "--samples-min")
      a.samples_min = std::atoi(value.c_str());
    else if (name == "--touched")
      a.touched = value == "1";
    else if (std::find(own_names.begin(), own_names.end(), name) != own_names.end())
      a.own[name] = value;
    else
      refuse("unknown option " + name);
  }
  if (a.sizes.empty()) refuse("--sizes is missing");
  return a;
}

}  // namespace strata::compare
