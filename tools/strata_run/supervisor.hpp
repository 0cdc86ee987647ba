// Stays with the ranks of this host until all have ended: passes on their output and the signals, and ends
// all when one fails.
#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "ccl/base/environment.hpp"
#include "ccl/base/fd.hpp"
#include "strata/status.hpp"
#include "tools/strata_run/child.hpp"
#include "tools/strata_run/ending.hpp"
#include "tools/strata_run/guardian.hpp"
#include "tools/strata_run/line_cutter.hpp"
#include "tools/strata_run/options.hpp"
#include "tools/strata_run/sink.hpp"

namespace strata::run {

class Supervisor final {
 public:
  // From here on signals are kept for run().
  Supervisor(const Options& options, const Environment& environment, Guardian guardian);
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;
  ~Supervisor();  // kills what is left

  // number: of the rank, among those that are started here.
  Status start(const Command& command, int number, const std::vector<std::string>& environment);
  // Returns the exit code of the job.
  int run();

 private:
  std::string prefix(int rank, bool coloured) const;
  std::string host_of(int rank) const;
  struct Rank {
    int rank;
    Child child;
    LineCutter out, err;
    std::optional<Ending> ending;
  };
  using Clock = std::chrono::steady_clock;

  bool all_ended() const;
  void wait_for_news();
  void take_signals();
  void take_signal(int signal);
  void relay();
  Sink& output_of(const Rank& rank);
  bool pass_on_both(Rank& rank);
  bool pass_on(Fd& from, LineCutter& cutter, Sink& to);
  void note_endings();
  void note_failure(const Rank& rank);
  void ask_to_end(int signal);
  void signal_all(int signal);
  void kill_late_ones();
  void finish();
  void say(const std::string& text);

  const Options options_;
  Guardian guardian_;
  const std::string host_;
  const bool colour_out_, colour_err_;
  sigset_t old_mask_{};
  Fd signals_;
  std::vector<Rank> ranks_;
  Sink out_{1}, err_{2};
  Sink nowhere_{-1};  // never written
  std::optional<Ending> first_failure_;
  std::optional<Clock::time_point> kill_at_;  // set once the ranks have been asked to end
  bool interrupted_ = false;                  // by SIGINT: the next one kills
  bool late_killed_ = false;
};

}  // namespace strata::run
