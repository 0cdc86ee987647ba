// A small process that outlives strata-run when that is killed, and then ends all ranks and removes the job's
// folder.
#pragma once
#include <sys/types.h>

#include <string>

#include "ccl/base/fd.hpp"
#include "strata/status.hpp"

namespace strata::run {

// It knows what to do from a pipe, and that it is time from the pipe's end.
class Guardian final {
 public:
  // folder: removed at the end in any case; empty: none. Error: unavailable.
  static Expected<Guardian> start(const std::string& folder);
  Guardian(Guardian&&) noexcept = default;
  Guardian& operator=(Guardian&&) noexcept = default;
  ~Guardian();  // all groups have ended: it has nothing to kill, and ends

  void watch(pid_t group);

 private:
  Guardian(pid_t pid, Fd pipe) : pid_(pid), pipe_(std::move(pipe)) {}
  pid_t pid_;
  Fd pipe_;
};

}  // namespace strata::run
