// Starts one rank: a process in a group of its own, which dies with its parent.
#pragma once
#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "ccl/base/fd.hpp"
#include "strata/status.hpp"

namespace strata::run {

struct Child {
  pid_t pid = 0;  // of the process, and of its group
  Fd out, err;    // what it writes; non-blocking
};

struct Command {
  std::string path;                    // of the program's file
  std::vector<std::string> arguments;  // the first is the program's name
  std::vector<int> cores = {};         // that it may use; empty: as this process
  int host = -1;  // pidfd of a process whose namespaces it lives in; -1: those of this process
};

// The file that the name means, found as a shell finds it; path: the folders to look in, separated by colons.
// Error: invalid_argument (there is none), or unavailable (it cannot be executed), with the reason.
Expected<std::string> find_program(const std::string& name, std::string_view path);

// Error: unavailable with the system's reason.
Expected<Child> start(const Command& command, const std::vector<std::string>& environment, bool reads_input);

}  // namespace strata::run
