#include "tools/strata_run/ending.hpp"

#include <fmt/format.h>
#include <string.h>
#include <sys/wait.h>

namespace strata::run {

Ending ending_from(const siginfo_t& info) {
  if (info.si_code == CLD_EXITED) return {info.si_status, 0};
  return {0, info.si_status};
}

std::string describe(const Ending& ending) {
  if (ending.signal == 0) return fmt::format("exited with code {}", ending.code);
  const char* const what = ::sigdescr_np(ending.signal);
  return fmt::format("was killed by signal {} ({})", ending.signal, what == nullptr ? "unknown" : what);
}

std::string signal_name(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

}  // namespace strata::run
