// strata-perf: measures collectives. One process a rank; rank 0 prints.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <new>

#include "tools/strata_perf/byte_size.hpp"
#include "tools/strata_perf/explain.hpp"
#include "tools/strata_perf/manual.hpp"
#include "tools/strata_perf/names.hpp"
#include "tools/strata_perf/output.hpp"

namespace strata::perf {
namespace {

enum Exit { kRight = 0, kWrongResult = 1, kUsage = 2, kFailed = 3 };

std::string describe(const Measurement& m) {
  std::string text = std::string(m.test->name) + " of " + format_byte_size(m.bytes) + " bytes, " +
                     std::string(column_name(m.type));
  if (m.test->reduces) text += ", " + std::string(column_name(m.op));
  if (m.test->rooted) text += ", root " + std::to_string(m.root);
  return text;
}

void complain(int rank, const std::string& what, const Status& status) {
  std::fprintf(stderr, "strata-perf: rank %d: %s: %s: %s\n", rank, what.c_str(),
               std::string(to_string(status.code())).c_str(), std::string(status.message()).c_str());
}

// All rows of one collective, in nccl-tests' order: types, operations, roots, sizes.
std::vector<Measurement> measurements_of(const TestCase& test, const Options& options, int ranks) {
  std::vector<std::uint64_t> sizes =
      test.kind == Kind::barrier ? std::vector<std::uint64_t>{0} : sizes_of(options);
  const std::vector<ReduceOp> ops = test.reduces ? options.ops : std::vector{ReduceOp::sum};
  std::vector<Rank> roots = {std::max(options.root, 0)};
  for (Rank r = 1; test.rooted && options.root < 0 && r < ranks; ++r) roots.push_back(r);
  std::vector<DataType> types = test.kind == Kind::barrier ? std::vector{options.types[0]} : options.types;
  std::vector<Measurement> all;
  for (DataType type : types)
    for (ReduceOp op : ops)
      for (Rank root : roots)
        for (std::uint64_t bytes : sizes)
          if (!test.reduces || is_defined(op, type)) all.push_back({&test, type, op, root, bytes});
  if (options.tests.size() == 1)  // else the communicator has it
    for (Measurement& what : all) what.algorithm = options.algorithm;
  return all;
}

// Files and header; rank 0 tells the others whether that went well, so that all end alike.
Status prepare_output(World& world, const Options& options, Output& output) {
  char host[256] = "?";
  ::gethostname(host, sizeof host - 1);
  Expected<std::vector<std::string>> hosts = world.gather(std::string(host));
  if (!hosts) return hosts.status();
  const auto pid = static_cast<double>(::getpid());
  Expected<std::vector<double>> pids = world.gather({&pid, 1});
  if (!pids) return pids.status();
  std::vector<RankInfo> ranks;
  for (std::size_t r = 0; r < hosts->size(); ++r)
    ranks.push_back({(*hosts)[r], static_cast<int>((*pids)[r])});
  const Status opened = world.prints() ? output.open(options, std::move(ranks)) : Status();
  const double failed = opened.ok() ? 0 : 1;
  Expected<std::vector<double>> all = world.gather({&failed, 1});
  if (!all) return all.status();
  if ((*all)[0] != 0 && opened.ok())
    return {ErrorCode::unavailable, "rank 0 could not open its output files"};
  return opened;
}

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

int run_cycle(World& world, Meter& meter, const Options& options, Output& output) {
  Explainer explainer(world, meter, options.all_algorithms, print);
  if (options.explain && world.prints()) print(levels_text(world.communicator().levels()));
  for (const TestCase* test : options.tests) {
    if (world.prints()) output.begin(*test);
    for (const Measurement& what : measurements_of(*test, options, world.size())) {
      const Expected<Row> row = options.explain ? explainer.measure(what) : meter.measure(what);
      if (!row) {
        complain(world.rank(), describe(what), row.status());
        return kFailed;
      }
      if (world.prints()) output.add(*row);
    }
  }
  return kRight;
}

// Every rank exits alike: only rank 0 has counted all wrong elements.
int agreed_exit(World& world, bool wrong) {
  const double mine = wrong ? 1 : 0;
  const Expected<std::vector<double>> all = world.gather({&mine, 1});
  return !all ? kFailed : (*all)[0] != 0 ? kWrongResult : kRight;
}

int run(World& world, const Options& options) {
  if (options.root >= world.size()) {
    if (world.prints())
      std::fprintf(stderr, "strata-perf: -r: '%d' is not a rank: 0 to %d, or -1 for all\n", options.root,
                   world.size() - 1);
    return kUsage;
  }
  Output output;
  if (Status status = prepare_output(world, options, output); !status.ok()) {
    complain(world.rank(), "output", status);
    return kFailed;
  }
  Meter meter(world, options);
  for (int cycle = 0; options.cycles == 0 || cycle < options.cycles; ++cycle)
    if (const int code = run_cycle(world, meter, options, output); code != kRight) return code;
  if (world.prints())
    if (Status status = output.finish(); !status.ok()) complain(world.rank(), "output", status);
  return agreed_exit(world, output.summary().wrong != 0);
}

int start(const Options& options, CommunicatorOptions where) {
  if (!options.transport.empty()) where.transport = options.transport;
  if (!options.topology.empty()) where.topology = options.topology;
  if (!options.levels.empty()) where.levels = options.levels;
  if (!options.trace.empty()) where.trace = options.trace;
  if (options.timeout_ms != 0) where.timeout_ms = options.timeout_ms;
  if (options.tests.size() > 1) where.algorithm = options.algorithm;
  Expected<Communicator> communicator = Communicator::create(where);
  if (!communicator) {
    complain(where.rank, "start", communicator.status());
    return kFailed;
  }
  World world(std::move(communicator).value());
  try {
    return run(world, options);
  } catch (const std::bad_alloc&) {
    complain(where.rank, "buffers",
             {ErrorCode::out_of_memory, "three times " + format_byte_size(options.bytes_max) +
                                            " bytes are not to be had on this rank; lower -e or -m"});
    return kFailed;
  }
}

int main(int argc, char** argv) {
  const ParsedCommandLine parsed = parse_command_line(argc, argv);
  const Expected<CommunicatorOptions> where = CommunicatorOptions::from_environment();
  const bool launched = where.ok() && where->rank >= 0 && where->size > 0;
  if (parsed.exit_code >= 0) {
    if (!launched || where->rank == 0)
      std::fputs(parsed.message.c_str(), parsed.exit_code == 0 ? stdout : stderr);
    return parsed.exit_code;
  }
  if (!where) {
    std::fprintf(stderr, "strata-perf: %s\n%s", std::string(where.status().message()).c_str(), kHowToLaunch);
    return kUsage;
  }
  return start(parsed.options, *where);
}

}  // namespace
}  // namespace strata::perf

int main(int argc, char** argv) { return strata::perf::main(argc, argv); }
