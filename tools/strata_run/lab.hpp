// The emulated hosts of a job. The command strata-lab (tools/lab) makes them, and ends them when this object
// is gone or this process dies.
#pragma once
#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "ccl/base/fd.hpp"
#include "strata/status.hpp"
#include "tools/strata_run/options.hpp"

namespace strata::run {

class Lab final {
 public:
  struct Host {
    Fd process;           // that holds its namespaces (pidfd)
    std::string address;  // of its first network interface, valid in the lab only
  };

  // path: the folders to look for strata-lab in, after the one of this program. Error: invalid_argument if
  // strata-lab takes the lab for a mistake, else unavailable; what it was, strata-lab has said on standard
  // error.
  static Expected<Lab> start(const LabOptions& options, std::string_view path);
  Lab(Lab&& other) noexcept;
  Lab& operator=(Lab&&) = delete;
  ~Lab();  // waits until the lab is gone

  const std::vector<Host>& hosts() const { return hosts_; }

 private:
  Lab(pid_t pid, Fd input) : pid_(pid), input_(std::move(input)) {}
  Status read_hosts(const Fd& output);
  int end();  // the exit code of strata-lab

  pid_t pid_;
  Fd input_;  // strata-lab ends the lab when this is closed
  std::vector<Host> hosts_;
};

// What strata-lab is called with; those of LabShape and the rest. Pure.
std::vector<std::string> lab_arguments(const LabOptions& options, pid_t job);

}  // namespace strata::run
