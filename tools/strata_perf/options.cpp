#include "tools/strata_perf/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <limits>
#include <sstream>

#include "tools/strata_perf/byte_size.hpp"
#include "tools/strata_perf/manual.hpp"
#include "tools/strata_perf/names.hpp"

namespace strata::perf {
namespace {

constexpr int kUsageError = 2;
constexpr int kCountMax = 1'000'000;

[[noreturn]] void refuse(const std::string& flag, const std::string& given, const std::string& choices) {
  throw CLI::ValidationError(flag, "'" + given + "' is not one of its values: " + choices);
}

std::int64_t whole_number(const std::string& flag, const std::string& text, std::int64_t least,
                          std::int64_t most) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most)
    refuse(flag, text, "whole numbers from " + std::to_string(least) + " to " + std::to_string(most));
  return value;
}

std::uint64_t byte_size(const std::string& flag, const std::string& text) {
  const std::optional<std::uint64_t> bytes = parse_byte_size(text);
  if (!bytes) refuse(flag, text, "a number of bytes, with K, M, G or T for powers of 1024: 64, 32M, 1.5G");
  return *bytes;
}

double seconds(const std::string& flag, const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value > 0) || value > 3600)
    refuse(flag, text, "numbers above 0, up to 3600, such as 0.2");
  return value;
}

double growth_factor(const std::string& flag, const std::string& text) {
  double factor = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), factor);
  if (error != std::errc{} || end != text.data() + text.size() || !(factor > 1) || factor > 1e6)
    refuse(flag, text, "numbers above 1, such as 2");
  return factor;
}

std::vector<const TestCase*> tests_named(const std::string& name) {
  std::vector<const TestCase*> tests;
  std::string choices;
  for (const TestCase& t : test_cases()) {
    choices += std::string(t.name) + ", ";
    if (name == t.name || name == "all") tests.push_back(&t);
  }
  if (tests.empty()) refuse("COLLECTIVE", name, choices + "all");
  return tests;
}

std::vector<DataType> types_named(const std::string& flag, const std::string& name) {
  std::vector<DataType> types;
  for (int i = 0; name == "all" && i < kDataTypes; ++i) types.push_back(static_cast<DataType>(i));
  if (!types.empty()) return types;
  const std::optional<DataType> type = find_type(name);
  if (!type) refuse(flag, name, type_choices());
  return {*type};
}

std::vector<ReduceOp> ops_named(const std::string& flag, const std::string& name) {
  std::vector<ReduceOp> ops;
  for (int i = 0; name == "all" && i < kReduceOps; ++i) ops.push_back(static_cast<ReduceOp>(i));
  if (!ops.empty()) return ops;
  const std::optional<ReduceOp> op = find_op(name);
  if (!op) refuse(flag, name, op_choices());
  return {*op};
}

// The options of nccl-tests and ours, each bound to its field.
class Binder {
 public:
  Binder(CLI::App& app, Options& options) : app_(app), o_(options) {}

  void bind() {
    bind_sizes();
    bind_size_list();
    bind_repetitions();
    bind_operations();
    bind_sampling();
    bind_library();
    bind_output();
    bind_refused();
  }
  // What only all options together can tell.
  void check() {
    if (!o_.sizes.empty()) check_size_list();
    if (!min_given_) o_.bytes_min = std::min(o_.bytes_min, o_.bytes_max);
    if (!max_given_) o_.bytes_max = std::max(o_.bytes_min, o_.bytes_max);
    if (o_.bytes_min > o_.bytes_max)
      throw CLI::ValidationError("-b", format_byte_size(o_.bytes_min) +
                                           " is more than the largest size, -e " +
                                           format_byte_size(o_.bytes_max));
    if (!o_.blocking && o_.touched)
      throw CLI::ValidationError(
          "-z",
          "0 starts calls before others have ended, which leaves no moment to touch the "
          "buffers: add --untouched");
    if (o_.sampled_s > 0 && (!o_.blocking || o_.calls_per_iteration > 1))
      throw CLI::ValidationError("--sampled", "calls run one after another in a sample: leave out -m and -z");
    for (const TestCase* t : o_.tests)
      for (DataType type : o_.types)
        if (t->reduces && o_.ops.size() == 1 && o_.types.size() == 1 && !is_defined(o_.ops[0], type))
          throw CLI::ValidationError("-o", std::string(to_string(o_.ops[0])) + " is not defined on " +
                                               std::string(to_string(type)) +
                                               ": bitwise operations are for integers");
  }

 private:
  void check_size_list() {
    if (min_given_ || max_given_) throw CLI::ValidationError("--sizes", "leave out -b and -e");
    const auto [min, max] = std::minmax_element(o_.sizes.begin(), o_.sizes.end());
    o_.bytes_min = *min, o_.bytes_max = *max;
    min_given_ = max_given_ = true;
  }

  using Setter = std::function<void(const std::string& flag, const std::string& text)>;

  CLI::Option* option(const std::string& names, const std::string& value, const std::string& help,
                      Setter set) {
    const std::string flag = names.substr(0, names.find(','));
    return app_
        .add_option_function<std::string>(
            names, [flag, set](const std::string& text) { set(flag, text); }, help)
        ->type_name(value);
  }
  void number(const std::string& names, int& field, int least, int most, const std::string& help) {
    option(names, "N", help + " [" + std::to_string(field) + "]",
           [&field, least, most](const auto& f, const auto& text) {
             field = static_cast<int>(whole_number(f, text, least, most));
           });
  }

  void bind_sizes() {
    option("-b,--minbytes", "SIZE", "smallest size [32M, or -e if that is less]",
           [this](const auto& f, const auto& text) { o_.bytes_min = byte_size(f, text), min_given_ = true; });
    option("-e,--maxbytes", "SIZE", "largest size [32M, or -b if that is more]",
           [this](const auto& f, const auto& text) { o_.bytes_max = byte_size(f, text), max_given_ = true; });
    option("-i,--stepbytes", "SIZE", "from one size to the next [1M]",
           [this](const auto& f, const auto& text) {
             o_.bytes_step = byte_size(f, text);
             if (o_.bytes_step == 0) refuse(f, text, "sizes of at least 1");
           });
    option("-f,--stepfactor", "X", "multiply by X instead, e.g. 2",
           [this](const auto& f, const auto& text) { o_.factor = growth_factor(f, text); });
  }

  void bind_size_list() {
    option("--sizes", "LIST", "these sizes instead, e.g. 8,1K,64M", [this](const auto& f, const auto& text) {
      std::istringstream list(text);
      for (std::string one; std::getline(list, one, ',');) o_.sizes.push_back(byte_size(f, one));
      if (o_.sizes.empty()) refuse(f, text, "sizes with commas between them");
    });
  }

  void bind_repetitions() {
    number("-n,--iters", o_.iterations, 1, kCountMax, "timed iterations of each size");
    number("-m,--agg_iters", o_.calls_per_iteration, 1, 4096, "calls started together in one iteration");
    number("--window", o_.window, 1, 1024, "messages that `send` has under way at once; fewer above 64 MiB");
    number("-w,--warmup_iters", o_.warmups, 0, kCountMax, "iterations before the timed ones");
    number("-N,--run_cycles", o_.cycles, 0, kCountMax,
           "repetitions of the whole run; 0: until it is stopped");
    number("-c,--check", o_.checks, 0, 1000, "checks of each result, each with new data; 0: none");
    number("-r,--root", o_.root, -1, std::numeric_limits<int>::max(), "root rank; -1: every rank in turn");
  }

  void bind_operations() {
    option("-d,--datatype", "TYPE", type_choices() + " [float]",
           [this](const auto& f, const auto& text) { o_.types = types_named(f, text); });
    option("-o,--op", "OP", op_choices() + " [sum]",
           [this](const auto& f, const auto& text) { o_.ops = ops_named(f, text); });
    option("-z,--blocking", "0|1",
           "1: a call starts when the one before has ended; 0: as many as buffers allow are "
           "under way [1]",
           [this](const auto& f, const auto& text) { o_.blocking = whole_number(f, text, 0, 1) != 0; });
    option("-a,--average", "0|1|2|3", "time shown: 0 of rank 0, 1 the ranks' mean, 2 least, 3 most [1]",
           [this](const auto& f, const auto& text) {
             o_.average = static_cast<Average>(whole_number(f, text, 0, 3));
           });
    app_.add_flag_callback(
        "--untouched", [this] { o_.touched = false; },
        "do not rewrite inputs and read outputs between calls: the data stay in the caches where "
        "the call left them, and the figures are better than a program will see");
  }

  void bind_sampling() {
    option("--sampled", "SECONDS", "instead of -n, -w and -a: times samples for so long (see SAMPLES)",
           [this](const auto& f, const auto& text) { o_.sampled_s = seconds(f, text); });
    option("--memory", "KIND",
           "private, or shared: buffers of strata::allocate(), which the ranks of this host can work on "
           "without copies [private]",
           [this](const auto& f, const auto& text) {
             if (text != "private" && text != "shared") refuse(f, text, "private, shared");
             o_.shared_memory = text == "shared";
           });
  }

  void bind_library() {
    option("--algorithm", "NAME",
           "force an algorithm of the catalog, e.g. ring; all: measure each, beside what is predicted",
           [this](const auto&, const auto& text) {
             o_.all_algorithms = text == "all";
             o_.explain = o_.explain || o_.all_algorithms;
             o_.algorithm = o_.all_algorithms ? "" : text;
           });
    app_.add_flag_callback(
        "--explain", [this] { o_.explain = true; },
        "print what each algorithm is predicted to take, and which is chosen");
    option("--transport", "NAMES", "narrow the transports, e.g. tcp or shm,tcp",
           [this](const auto&, const auto& text) { o_.transport = text; });
    option("--topology", "FILE", "racks, rails and machines of the hosts (STRATA_TOPOLOGY)",
           [this](const auto&, const auto& text) { o_.topology = text; });
    option("--levels", "LEVELS", "2x4, numa,host,rack or 0-3,4-7;0-7 (STRATA_LEVELS)",
           [this](const auto&, const auto& text) { o_.levels = text; });
    option("--trace", "FILE", "gets the timeline of all ranks, for Perfetto (STRATA_TRACE)",
           [this](const auto&, const auto& text) { o_.trace = text; });
    option("-T,--timeout", "SECONDS", "an operation without progress for so long fails [60]",
           [this](const auto& f, const auto& text) {
             o_.timeout_ms = static_cast<std::uint32_t>(whole_number(f, text, 1, 4'000'000) * 1000);
           });
    option("-p,--parallel_init", "0|1", "accepted: ranks always start in parallel",
           [](const auto& f, const auto& text) { whole_number(f, text, 0, 1); });
  }

  void bind_output() {
    option("--csv", "FILE", "write the rows as CSV too",
           [this](const auto&, const auto& text) { o_.csv_path = text; });
    option("-J,--json,--output_file", "FILE", "write the run as JSON too",
           [this](const auto&, const auto& text) { o_.json_path = text; });
    app_.add_flag_callback(
        "--plain", [this] { o_.percentiles = false; },
        "nccl-tests' columns only: no percentiles at the end of the rows");
  }

  void bind_refused() {
    option("-t,--nthreads", "1", "accepted if 1: a rank is a process", [](const auto& f, const auto& text) {
      if (text != "1")
        throw CLI::ValidationError(
            f, "'" + text + "': a rank is a process of its own here; start more by strata-run -n " + text);
    });
    option("-g,--ngpus", "", "refused: there are no GPUs in this measurement",
           [](const auto& f, const auto& text) {
             throw CLI::ValidationError(
                 f, "'" + text +
                        "': this measures memory of the host, not GPUs; leave -g out and start "
                        "the ranks by strata-run -n N -- strata-perf ...");
           })
        ->group("");
  }

  CLI::App& app_;
  Options& o_;
  bool min_given_ = false, max_given_ = false;
};

}  // namespace

std::vector<std::uint64_t> sizes_of(const Options& options) {
  if (!options.sizes.empty()) return options.sizes;
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size = options.bytes_min; size <= options.bytes_max;) {
    sizes.push_back(size);
    const double grown = static_cast<double>(size) * options.factor;
    size = options.factor > 1 ? std::max(size + 1, static_cast<std::uint64_t>(grown))
                              : size + options.bytes_step;
  }
  return sizes;
}

ParsedCommandLine parse_command_line(int argc, const char* const* argv) {
  ParsedCommandLine parsed;
  CLI::App app(kManualIntroduction, "strata-perf");
  app.footer(manual_footer());
  Binder binder(app, parsed.options);
  app.add_option_function<std::string>(
         "COLLECTIVE", [&](const std::string& name) { parsed.options.tests = tests_named(name); },
         "what to measure, or all (see COLLECTIVES)")
      ->type_name("")
      ->required();
  binder.bind();
  try {
    app.parse(argc, argv);
    binder.check();
  } catch (const CLI::ParseError& error) {
    std::ostringstream help, complaint;
    const bool asked_for_help = app.exit(error, help, complaint) == 0;
    parsed.exit_code = asked_for_help ? 0 : kUsageError;
    parsed.message = asked_for_help
                         ? help.str()
                         : "strata-perf: " + std::string(error.what()) + "\nTry strata-perf --help.\n";
  }
  return parsed;
}

}  // namespace strata::perf
