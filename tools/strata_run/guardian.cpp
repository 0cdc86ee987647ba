#include "tools/strata_run/guardian.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

#include "ccl/base/errno_status.hpp"

namespace strata::run {
namespace {

constexpr pid_t kAllEnded = 0;  // in place of a group

// Signals meant for the job must not end it, and its streams must not keep a reader of them waiting.
void stand_apart() {
  ::setpgid(0, 0);
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  const int nothing = ::open("/dev/null", O_RDWR);
  for (int fd = 0; fd <= 2; ++fd) ::dup2(nothing, fd);
}

[[noreturn]] void guard(int pipe, const std::string& folder) {
  stand_apart();
  std::vector<pid_t> groups;
  for (pid_t group; ::read(pipe, &group, sizeof group) == sizeof group;)
    group == kAllEnded ? groups.clear() : groups.push_back(group);
  for (const pid_t group : groups) ::kill(-group, SIGKILL);
  std::error_code ignored;
  if (!folder.empty()) std::filesystem::remove_all(folder, ignored);
  ::_exit(0);
}

}  // namespace

Expected<Guardian> Guardian::start(const std::string& folder) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return errno_status("pipe2", "the guardian");
  Fd read(ends[0]), write(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return errno_status("fork", "the guardian");
  if (pid == 0) {
    write.reset();  // else it would wait for itself
    guard(read.get(), folder);
  }
  return Guardian(pid, std::move(write));
}

Guardian::~Guardian() {
  if (!pipe_.valid()) return;
  watch(kAllEnded);
  pipe_.reset();
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
}

void Guardian::watch(pid_t group) { (void)!::write(pipe_.get(), &group, sizeof group); }

}  // namespace strata::run
