// How a rank ended, in numbers and words.
#pragma once
#include <signal.h>

#include <string>

namespace strata::run {

struct Ending {
  int code = 0;    // if it exited by itself
  int signal = 0;  // if it was killed; else 0

  bool failed() const { return code != 0 || signal != 0; }
  int exit_code() const { return signal != 0 ? 128 + signal : code; }  // as shells have it
};

Ending ending_from(const siginfo_t& info);   // as waitid gives it
std::string describe(const Ending& ending);  // "exited with code 3", "was killed by signal 9 (Killed)"
std::string signal_name(int signal);         // "SIGINT"

}  // namespace strata::run
