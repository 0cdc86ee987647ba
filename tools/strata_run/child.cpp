#include "tools/strata_run/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "ccl/base/errno_status.hpp"

namespace strata::run {
namespace {

struct Pipe {
  Fd read, write;
};

Expected<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return errno_status("pipe2", "a rank's output");
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

bool is_file(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
}

struct Streams {
  int in, out, err, failure;
};

// In the new process, where only system calls are safe. Does not return.
[[noreturn]] void become(const char* path, char* const* arguments, char* const* environment,
                         const Streams& streams, const cpu_set_t& cores, pid_t parent) {
  ::setpgid(0, 0);
  // Should the parent be killed, so is this; and it may have been already.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  ::signal(SIGPIPE, SIG_DFL);  // the only one that strata-run changes
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (CPU_COUNT(&cores) > 0) ::sched_setaffinity(0, sizeof cores, &cores);  // refused: it runs all the same
  if (streams.in >= 0) ::dup2(streams.in, STDIN_FILENO);
  ::dup2(streams.out, STDOUT_FILENO);
  ::dup2(streams.err, STDERR_FILENO);
  ::execve(path, arguments, environment);
  const int reason = errno;
  (void)!::write(streams.failure, &reason, sizeof reason);
  ::_exit(127);
}

}  // namespace

Expected<std::string> find_program(const std::string& name, std::string_view path) {
  if (name.find('/') != std::string::npos) {
    if (::access(name.c_str(), F_OK) != 0)
      return Status(ErrorCode::invalid_argument, fmt::format("there is no file {}", name));
    if (!is_file(name))
      return Status(ErrorCode::unavailable, fmt::format("{} is a folder, not a program", name));
    if (::access(name.c_str(), X_OK) != 0)
      return Status(ErrorCode::unavailable, fmt::format("{} may not be executed (chmod +x it)", name));
    return name;
  }
  std::string_view folders = path.empty() ? "/usr/local/bin:/usr/bin:/bin" : path;
  while (!folders.empty()) {
    const std::size_t colon = std::min(folders.find(':'), folders.size());
    const std::string candidate = fmt::format("{}/{}", colon == 0 ? "." : folders.substr(0, colon), name);
    if (is_file(candidate) && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    folders.remove_prefix(std::min(colon + 1, folders.size()));
  }
  return Status(
      ErrorCode::invalid_argument,
      fmt::format("there is no program {} in PATH{}", name,
                  is_file(name) ? fmt::format(", but there is a file here: ./{}", name) : std::string()));
}

Expected<Child> start(const Command& command, const std::vector<std::string>& environment, bool reads_input) {
  auto out = make_pipe(), err = make_pipe(), failure = make_pipe();
  for (const auto* pipe : {&out, &err, &failure})
    if (!*pipe) return pipe->status();
  const Fd nothing(reads_input ? -1 : ::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::vector<char*> arguments = pointers_to(command.arguments), variables = pointers_to(environment);
  const Streams streams{nothing.get(), out->write.get(), err->write.get(), failure->write.get()};
  cpu_set_t cores;
  CPU_ZERO(&cores);
  for (const int core : command.cores) CPU_SET(core, &cores);
  const pid_t parent = ::getpid(), pid = ::fork();
  if (pid < 0) return errno_status("fork", command.path);
  if (pid == 0) become(command.path.c_str(), arguments.data(), variables.data(), streams, cores, parent);
  ::setpgid(pid, pid);  // in both processes, so that it is done whoever runs first
  failure->write.reset();
  int reason = 0;
  // Ends when the program has been started, which closes the pipe, or could not be.
  if (::read(failure->read.get(), &reason, sizeof reason) == sizeof reason) {
    ::waitpid(pid, nullptr, 0);
    errno = reason;
    return errno_status("exec", command.path);
  }
  for (const Fd* fd : {&out->read, &err->read}) ::fcntl(fd->get(), F_SETFL, O_NONBLOCK);
  return Child{pid, std::move(out->read), std::move(err->read)};
}

}  // namespace strata::run
