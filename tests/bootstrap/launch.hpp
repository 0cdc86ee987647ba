// Runs strata-run as a user does, and knows when everything it started has ended.
#pragma once
#include <signal.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "ccl/base/fd.hpp"

namespace strata::test {

class Launch final {
 public:
  // environment: added to this process's, without what a launcher around the tests may have set.
  explicit Launch(std::vector<std::string> arguments, std::vector<std::string> environment = {},
                  std::string input = {});
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;
  ~Launch();

  pid_t pid() const { return pid_; }
  void signal(int number) const { ::kill(pid_, number); }
  // Reads standard output until this text has come. False: the end came first.
  bool wait_for(const std::string& text);
  // Waits for the end; the exit code, or 128 + the signal that ended strata-run itself.
  int exit_code();
  // Waits until no process that strata-run has started, in any generation, lives: all of them hold one pipe
  // open.
  void wait_until_all_are_gone();
  const std::string& out();  // all of it, after the end
  const std::string& err();
  std::string err_so_far() const;
  void close_output() { out_fd_.reset(); }

 private:
  pid_t pid_ = 0;
  int status_ = -1;
  Fd out_fd_, err_fd_, life_;
  std::string out_, err_;
};

struct Result {
  int exit_code;
  std::string out, err;
};
Result launch(std::vector<std::string> arguments, std::vector<std::string> environment = {},
              std::string input = {});

std::vector<std::string> sorted_lines(const std::string& text);

}  // namespace strata::test
