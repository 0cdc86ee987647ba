#include "tools/strata_run/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <numeric>

#include "ccl/base/environment.hpp"
#include "ccl/base/nearest.hpp"
#include "tools/strata_run/manual.hpp"

namespace strata::run {
namespace {

constexpr double kSecondsMax = 1e6;

// A range is for the error message; in the help it would hide the description.
template <class Number>
CLI::Validator from_to(Number min, Number max) {
  return CLI::Range(min, max).description("");
}

// The introduction shows the usage.
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string) const override { return "\n"; }
  // What an option needs, its description says.
  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_type_size() == 0 ? std::string() : " " + option->get_type_name();
  }
};

void add_job_options(CLI::App& app, Options& o) {
  app.add_option("-n,--ranks", o.ranks, "How many ranks to start on this host")
      ->type_name("N")
      ->check(from_to(1, kRanksMax));
  app.add_option("--nnodes", o.nodes, "How many hosts take part; each starts -n ranks (1)")
      ->type_name("N")
      ->check(from_to(1, kRanksMax));
  app.add_option("--node-rank", o.node_rank, "This host's number, from 0 (0)")
      ->type_name("K")
      ->check(from_to(0, kRanksMax - 1));
  app.add_option("--rendezvous", o.rendezvous,
                 "Where ranks meet: HOST:PORT of node 0, the same on all; for one host also a path")
      ->type_name("WHERE");
  app.add_option("--secret-file", o.secret_file,
                 "File with the job's secret, the same on all hosts (STRATA_SECRET)")
      ->type_name("FILE");
}

// What has been given for the lab; its shape is not parsed yet.
struct GivenLab {
  std::string shape, order = "packed";
  LabOptions options;
};

void add_lab_options(CLI::App& app, GivenLab& lab) {
  const auto only_with =
      app.add_option("--lab", lab.shape, "Run on emulated hosts: HOSTSxRANKS@RATE, as in 2x4@1gbit; see LABS")
          ->type_name("SHAPE");
  app.add_option("--lab-order", lab.order,
                 "In a lab, packed: ranks fill one host after the other; or round-robin (packed)")
      ->type_name("ORDER")
      ->check(CLI::IsMember({"packed", "round-robin"}).description(""))
      ->needs(only_with);
  app.add_option("--lab-racks", lab.options.racks,
                 "Of a lab: switches, among which the hosts are divided (1)")
      ->type_name("N")
      ->check(from_to(1, kRanksMax))
      ->needs(only_with);
  app.add_option("--lab-uplink", lab.options.uplink,
                 "Of a lab: the rate of each rack's cable to the others, as in 2gbit (none)")
      ->type_name("RATE")
      ->needs(only_with);
  app.add_option("--lab-delay", lab.options.delay, "Of a lab: added on the way between hosts, as in 50us (0)")
      ->type_name("TIME")
      ->needs(only_with);
  app.add_option("--lab-name", lab.options.name,
                 "Of a lab: for strata-lab, which can change rates and cut links meanwhile (run-PID)")
      ->type_name("NAME")
      ->needs(only_with);
}

void add_library_options(CLI::App& app, Options& o) {
  const auto seconds = from_to(0.0, kSecondsMax);
  app.add_option("--transport", o.transport, "Sets STRATA_TRANSPORT: shm, tcp or shm,tcp")->type_name("T");
  app.add_option("--interface", o.interface, "Sets STRATA_INTERFACE: name, prefix* or address; several: a,b")
      ->type_name("I");
  app.add_option("--port-range", o.port_range, "Sets STRATA_PORT_RANGE: first-last")->type_name("A-B");
  app.add_option("--algorithm", o.algorithm, "Sets STRATA_ALGORITHM")->type_name("NAME");
  app.add_option("--topology", o.topology,
                 "Sets STRATA_TOPOLOGY: a file with the racks, rails and machines of the hosts")
      ->type_name("FILE");
  app.add_option("--levels", o.levels, "Sets STRATA_LEVELS: 2x4, numa,host,rack or 0-3,4-7;0-7")
      ->type_name("LEVELS");
  app.add_option("--trace", o.trace,
                 "Sets STRATA_TRACE: a file for the job's timeline, for Perfetto; see TIMELINE")
      ->type_name("FILE");
  app.add_option("--metrics", o.metrics, "Sets STRATA_METRICS: PORT or HOST:PORT for Prometheus; see METRICS")
      ->type_name("WHERE");
  app.add_option("--timeout", o.timeout_s,
                 "An operation stalled for so long fails on all ranks; 0: never (60)")
      ->type_name("SECONDS")
      ->check(seconds);
  app.add_option("--rendezvous-timeout", o.rendezvous_timeout_s, "All ranks must have come by then (60)")
      ->type_name("SECONDS")
      ->check(seconds);
  app.add_flag_callback(
      "--no-bind", [&o] { o.bind = false; },
      "Let every rank use all cores; else each gets its share of them, if there is one for each");
  app.add_option("--log", o.log, "Sets STRATA_LOG: trace, debug, info, warn, error or off")
      ->type_name("LEVEL");
}

void add_output_options(CLI::App& app, Options& o) {
  app.add_flag_callback(
      "--no-prefix", [&o] { o.prefix = false; }, "Do not put [rank] before each line");
  app.add_option("--only-rank", o.only_rank,
                 "Show the standard output of this rank only (standard error: of all)")
      ->type_name("R")
      ->check(from_to(0, kRanksMax - 1));
  app.add_option("--grace", o.grace_s, "Time to end after a signal, before a rank is killed (10)")
      ->type_name("SECONDS")
      ->check(from_to(0.0, kSecondsMax));
}

std::string unknown_option(const CLI::App& app, const std::string& given) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  const std::vector<std::string_view> views(names.begin(), names.end());
  return fmt::format(
      "there is no option {}; did you mean {}? (strata-run --help lists them; a program's own options come "
      "after the program)",
      given, nearest(given.substr(0, given.find('=')), views));
}

// Empty, or what is wrong with options that are fine one by one.
std::string contradiction(const Options& o) {
  if (o.ranks == 0 && !o.lab)
    return "-n,--ranks is required, as in: strata-run -n 4 -- ./program (or --lab, for emulated hosts)";
  if (o.command.empty()) return "the program to run is missing, as in: strata-run -n 4 -- ./program";
  if (o.node_rank >= o.nodes)
    return fmt::format("--node-rank is {} and --nnodes is {}; node ranks go from 0 to {}", o.node_rank,
                       o.nodes, o.nodes - 1);
  if (o.ranks > kRanksMax / o.nodes)
    return fmt::format("{} hosts with {} ranks each are more than the {} ranks a job may have", o.nodes,
                       o.ranks, kRanksMax);
  if (o.only_rank >= o.nodes * o.ranks)
    return fmt::format("--only-rank is {}; ranks go from 0 to {}", o.only_rank, o.nodes * o.ranks - 1);
  return {};
}

// Empty, or what is wrong with the lab that was asked for.
std::string take_lab(GivenLab given, Options& o) {
  if (given.shape.empty()) return {};
  if (o.ranks > 0) return "--lab says how many ranks there are: leave -n away";
  if (o.nodes > 1 || !o.rendezvous.empty())
    return "--lab has hosts of its own, and they know where to meet: leave --nnodes and --rendezvous away";
  auto shape = parse_lab_shape(given.shape);
  if (!shape) return std::string(shape.status().message());
  o.ranks = std::accumulate(shape->ranks.begin(), shape->ranks.end(), 0);
  o.lab = std::move(given.options);
  o.lab->shape = std::move(*shape);
  o.lab->round_robin = given.order == "round-robin";
  return {};
}

int complain(const std::string& text) {
  std::fprintf(stderr, "strata-run: %s\n", text.c_str());
  return kUsage;
}

}  // namespace

Parsed parse_command_line(int argc, const char* const* argv) {
  Options options;
  CLI::App app(kManualIntroduction, "strata-run");
  app.footer(manual_footer());
  app.formatter(std::make_shared<HelpFormatter>());
  app.get_formatter()->column_width(32);
  app.prefix_command();  // everything from the program on is the program's
  bool help_environment = false;
  GivenLab lab;
  add_job_options(app, options);
  add_lab_options(app, lab);
  add_library_options(app, options);
  add_output_options(app, options);
  app.add_flag("--help-environment", help_environment, "List the environment variables that Strata knows");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return {{}, app.exit(help)};
  } catch (const CLI::ParseError& error) {
    // Asking for this help needs no other option.
    if (!help_environment) return {{}, complain(fmt::format("{} (see strata-run --help)", error.what()))};
  }
  if (help_environment)
    return {{}, std::printf("%s", describe_variables().c_str()) < 0 ? kLauncherFailed : 0};
  options.command = app.remaining();
  const bool marked = !options.command.empty() && options.command[0] == "--";
  if (marked) options.command.erase(options.command.begin());
  if (!marked && !options.command.empty() && options.command[0].starts_with('-'))
    return {{}, complain(unknown_option(app, options.command[0]))};
  if (const std::string wrong = take_lab(std::move(lab), options); !wrong.empty())
    return {{}, complain(wrong)};
  if (const std::string wrong = contradiction(options); !wrong.empty()) return {{}, complain(wrong)};
  return {std::move(options), 0};
}

}  // namespace strata::run
