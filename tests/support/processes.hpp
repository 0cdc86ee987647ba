// A job whose ranks are processes, so that they can be stopped and killed.
#pragma once
#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace strata::test {

struct ProcessEnd {
  int exit_code = -1;  // -1: ended by a signal
  int signal = 0;
  std::string text;  // what its body returned
};

// A rank's body: calls ready() when the parent may meddle; what it returns reaches the parent.
using RankBody = std::function<std::string(int rank, const std::function<void()>& ready)>;

// Forks `size` ranks; when all have said ready (or ended), calls meddle with their pids, then waits for all.
// Must be called while the test process has one thread.
std::vector<ProcessEnd> run_processes(int size, const RankBody& body,
                                      const std::function<void(const std::vector<pid_t>&)>& meddle);

}  // namespace strata::test
