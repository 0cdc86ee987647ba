// strata-run: starts the ranks of a job on this host.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <optional>

#include "ccl/algorithms/algorithm.hpp"
#include "ccl/base/log.hpp"
#include "ccl/bootstrap/rendezvous_roll.hpp"
#include "ccl/runtime/options.hpp"
#include "ccl/trace/merge.hpp"
#include "tools/strata_run/host_facts.hpp"
#include "tools/strata_run/job_folder.hpp"
#include "tools/strata_run/lab.hpp"
#include "tools/strata_run/placement.hpp"
#include "tools/strata_run/plan.hpp"
#include "tools/strata_run/secret.hpp"
#include "tools/strata_run/supervisor.hpp"

namespace strata::run {
namespace {

int complain(const Status& status, int exit_code) {
  std::fprintf(stderr, "strata-run: %s\n", std::string(status.message()).c_str());
  return exit_code;
}

// What goes wrong in every rank alike is said once, before any is started.
Status check_environment(const std::vector<std::string>& of_a_rank) {
  const Environment environment(of_a_rank);
  if (Status s = configure_log(environment); !s.ok()) return s;
  return options_from(environment).status();
}

void log_plan(const Options& options, const Job& job) {
  log::debug("{} of {} ranks start here and meet at {}; {} cores, so OMP_NUM_THREADS is {} unless it was set",
             options.ranks, world_size(options), job.rendezvous, job.cores.size(),
             std::max(1, static_cast<int>(job.cores.size()) / options.ranks));
}

// The timeline of a job that rank 0 could not write: of the ranks that were started here.
void save_timeline(const Options& options, const std::string& trace, std::uint64_t since_ns) {
  std::vector<Rank> ranks;
  for (int i = 0; i < options.ranks; ++i) ranks.push_back(rank_of(options, i));
  std::vector<std::string_view> algorithms;
  for (const Algorithm& algorithm : catalog()) algorithms.push_back(algorithm.name);
  const auto found = trace::merge_parts(trace, ranks, since_ns, algorithms);
  if (!found)
    complain(Status(found.status().code(), fmt::format("the timeline: {}", found.status().message())), 0);
  else if (!found->empty())
    std::fprintf(stderr, "strata-run: %s has what rank %s had recorded of the timeline\n", trace.c_str(),
                 rendezvous::list_ranks(*found).c_str());
}

std::uint64_t since_1970_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

int launch(const Options& options, Job job, const Environment& environment, const std::string& folder,
           const Command& command) {
  const std::vector<std::string> inherited = environment.assignments();
  if (Status s = check_environment(environment_of(options, job, inherited, 0)); !s.ok())
    return complain(s, kUsage);
  log_plan(options, job);
  auto guardian = Guardian::start(folder);
  if (!guardian) return complain(guardian.status(), kLauncherFailed);
  std::optional<Lab> lab;  // ends after its ranks; begins after the guardian, which would keep it open
  if (options.lab) {
    auto made = Lab::start(*options.lab, environment.text("PATH"));
    if (!made)
      return complain(made.status(),
                      made.status().code() == ErrorCode::invalid_argument ? kUsage : kLauncherFailed);
    lab.emplace(std::move(*made));
    job.rendezvous = lab_rendezvous(lab->hosts()[0].address);
  }
  const std::uint64_t since_ns = since_1970_ns();
  Supervisor supervisor(options, environment, std::move(*guardian));
  for (int i = 0; i < options.ranks; ++i) {
    Command own = command;
    own.cores = cores_of(options, job, i);
    if (lab) own.host = lab->hosts()[static_cast<std::size_t>(place_of(options, i).host)].process.get();
    const Status started = supervisor.start(own, i, environment_of(options, job, inherited, i));
    if (!started.ok()) return complain(started, kNotExecutable);
  }
  const int exit_code = supervisor.run();
  const std::string_view inherited_trace = environment.text("STRATA_TRACE");
  const std::string trace = options.trace.empty() ? std::string(inherited_trace) : options.trace;
  if (!trace.empty()) save_timeline(options, trace, since_ns);
  return exit_code;
}

int main(int argc, const char* const* argv) {
  const Parsed parsed = parse_command_line(argc, argv);
  if (!parsed.options) return parsed.exit_code;
  const Options& options = *parsed.options;
  const Environment environment = Environment::of_process();
  if (Status s = environment.check_names(); !s.ok()) return complain(s, kUsage);
  auto rendezvous = rendezvous_of(options, environment);
  if (!rendezvous) return complain(rendezvous.status(), kUsage);
  const auto secret = secret_of(options, environment);
  if (!secret) return complain(secret.status(), kUsage);
  const auto program = find_program(options.command[0], environment.text("PATH"));
  if (!program)
    return complain(program.status(),
                    program.status().code() == ErrorCode::invalid_argument ? kNotFound : kNotExecutable);
  std::optional<JobFolder> folder;
  if (rendezvous->empty()) {
    auto made = JobFolder::make(std::string(environment.text("TMPDIR")));
    if (!made) return complain(made.status(), kLauncherFailed);
    folder.emplace(std::move(*made));
    rendezvous = folder->socket();
  }
  const Job job{*rendezvous, *secret, usable_cores(), free_port()};
  return launch(options, job, environment, folder ? folder->path() : std::string(),
                {*program, options.command, {}});
}

}  // namespace
}  // namespace strata::run

int main(int argc, char** argv) { return strata::run::main(argc, argv); }
