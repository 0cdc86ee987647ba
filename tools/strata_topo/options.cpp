#include "tools/strata_topo/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "ccl/base/nearest.hpp"
#include "tools/strata_topo/manual.hpp"

namespace strata::topo {
namespace {

constexpr int kRanksMax = 1 << 20;

// The introduction shows the usage.
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string name) const override {
    return app->get_parent() == nullptr ? "\n" : CLI::Formatter::make_usage(app, std::move(name));
  }
};

template <class Number>
CLI::Validator from_to(Number min, Number max) {
  return CLI::Range(min, max).description("");
}

void add_file(CLI::App* command, Options& o) {
  command
      ->add_option("--topology", o.topology,
                   "A topology file, or XML of NCCL or hwloc; without it: this host")
      ->type_name("FILE");
}

void add_commands(CLI::App& app, Options& o) {
  auto* show = app.add_subcommand("show", "Draw it in the terminal, or as an SVG picture");
  add_file(show, o);
  show->add_option("--svg", o.svg, "Draw into this file instead; - is standard output")->type_name("FILE");
  show->add_option("--width", o.width, "Columns to use (those of the terminal)")
      ->type_name("N")
      ->check(from_to(40, 10000));
  show->add_flag("--ascii", o.ascii, "Draw frames with - | + only");
  auto* dump = app.add_subcommand("dump", "Write it down as a topology file");
  add_file(dump, o);
  auto* levels = app.add_subcommand("levels", "Show the groups that ranks form, from the inside out");
  add_file(levels, o);
  levels->add_option("-n,--ranks", o.ranks, "Ranks on each host (its slots, else its GPUs, else its cores)")
      ->type_name("N")
      ->check(from_to(1, kRanksMax));
  levels
      ->add_option("--place", o.places,
                   "Where the next rank is: HOST, HOST:CPUS or HOST:gpuK; once for each rank, in their order")
      ->type_name("PLACE");
  levels->add_option("--levels", o.levels, "Levels by hand: 2x4, numa,host or 0-3,4-7;0-7")
      ->type_name("LEVELS");
  auto* import = app.add_subcommand("import", "Write XML of NCCL or hwloc down as a topology file");
  auto* probe =
      app.add_subcommand("probe", "Run by strata-run: measure the links of each level of the ranks");
  probe
      ->add_option("--topology", o.topology,
                   "The topology file to add the costs to (STRATA_TOPOLOGY); without it: what is discovered")
      ->type_name("FILE");
  probe
      ->add_option("--output", o.output, "Where rank 0 writes the topology file; without it: standard output")
      ->type_name("FILE");
  import->add_option("FILE", o.topology, "The XML file")->type_name("")->required();
}

template <class Names>
std::string unknown(const std::string& word, const Names& names) {
  const std::vector<std::string_view> views(names.begin(), names.end());
  return fmt::format("'{}' is not known; did you mean '{}'? (strata-topo --help lists what there is)", word,
                     nearest(word.substr(0, word.find('=')), views));
}

std::string unknown_word(const std::string& word, const CLI::App& app) {
  std::vector<std::string> names;
  const auto parsed = app.get_subcommands();
  if (!word.starts_with('-') && !parsed.empty())
    return fmt::format("'{}' is one word too many (see strata-topo {} --help)", word, parsed[0]->get_name());
  if (!word.starts_with('-'))
    for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  else
    for (const CLI::Option* option : (parsed.empty() ? &app : parsed[0])->get_options())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return unknown(word, names);
}

int complain(const std::string& text) {
  std::fprintf(stderr, "strata-topo: %s\n", text.c_str());
  return kUsage;
}

std::string contradiction(const Options& o) {
  if (!o.places.empty() && o.ranks > 0)
    return "--ranks and --place both say where ranks are; give one of them";
  return {};
}

}  // namespace

Parsed parse_command_line(int argc, const char* const* argv) {
  Options options;
  CLI::App app(kManualIntroduction, "strata-topo");
  app.footer(manual_footer());
  app.formatter(std::make_shared<HelpFormatter>());
  app.get_formatter()->column_width(32);
  app.allow_extras();
  add_commands(app, options);
  for (CLI::App* command : app.get_subcommands({})) command->allow_extras()->footer("");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return {{}, app.exit(help)};
  } catch (const CLI::ParseError& error) {
    return {{}, complain(fmt::format("{} (see strata-topo --help)", error.what()))};
  }
  if (const auto extra = app.remaining(true); !extra.empty())
    return {{}, complain(unknown_word(extra[0], app))};
  const std::pair<const char*, Command> commands[] = {{"show", Command::show},
                                                      {"dump", Command::dump},
                                                      {"levels", Command::levels},
                                                      {"import", Command::import},
                                                      {"probe", Command::probe}};
  const auto given = std::find_if(std::begin(commands), std::end(commands),
                                  [&](const auto& c) { return app.got_subcommand(c.first); });
  if (given == std::end(commands))
    return {{}, complain("what to do is missing, as in: strata-topo show (see strata-topo --help)")};
  options.command = given->second;
  if (const std::string wrong = contradiction(options); !wrong.empty()) return {{}, complain(wrong)};
  return {std::move(options), 0};
}

}  // namespace strata::topo
