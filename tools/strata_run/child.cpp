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
#include <filesystem>
#include <system_error>

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

// What a process that could not become the program tells its parent.
struct Failure {
  int reason;       // errno
  bool on_the_way;  // it did not get into the host's namespaces
};

// While this lives, new processes are in the namespace of processes of that host.
class InHost final {
 public:
  explicit InHost(int host) : mine_(host < 0 ? -1 : ::open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC)) {
    if (host >= 0 && ::setns(host, CLONE_NEWPID) != 0) reason_ = errno;
  }
  InHost(const InHost&) = delete;
  InHost& operator=(const InHost&) = delete;
  ~InHost() {
    if (mine_.valid()) ::setns(mine_.get(), CLONE_NEWPID);
  }
  int reason() const { return reason_; }

 private:
  Fd mine_;
  int reason_ = 0;  // errno
};

// The other namespaces. Files are the same there, so the folder may be kept.
bool enter(int host, const char* folder) {
  return ::setns(host, CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC) == 0 && ::chdir(folder) == 0;
}

// Where the new process comes from, and where it goes.
struct Origin {
  pid_t parent;  // as seen by it: 0 from another namespace of processes
  int host;
  const char* folder;
};

[[noreturn]] void give_up(const Streams& streams, bool on_the_way) {
  const Failure failure{errno, on_the_way};
  (void)!::write(streams.failure, &failure, sizeof failure);
  ::_exit(127);
}

// In the new process, where only system calls are safe. Does not return.
[[noreturn]] void become(const char* path, char* const* arguments, char* const* environment,
                         const Streams& streams, const cpu_set_t& cores, const Origin& origin) {
  ::setpgid(0, 0);
  // Should the parent be killed, so is this; and it may have been already.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != origin.parent) ::_exit(1);
  ::signal(SIGPIPE, SIG_DFL);  // the only one that strata-run changes
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (CPU_COUNT(&cores) > 0) ::sched_setaffinity(0, sizeof cores, &cores);  // refused: it runs all the same
  if (origin.host >= 0 && !enter(origin.host, origin.folder)) give_up(streams, true);
  if (streams.in >= 0) ::dup2(streams.in, STDIN_FILENO);
  ::dup2(streams.out, STDOUT_FILENO);
  ::dup2(streams.err, STDERR_FILENO);
  ::execve(path, arguments, environment);
  give_up(streams, false);
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
  std::error_code ignored;
  const std::string folder = std::filesystem::current_path(ignored).string();
  const Origin origin{command.host < 0 ? ::getpid() : 0, command.host, folder.c_str()};
  pid_t pid = 0;
  {
    const InHost in_host(command.host);
    if (in_host.reason() != 0) {
      errno = in_host.reason();
      return errno_status("setns", "a host of the lab");
    }
    pid = ::fork();
    if (pid < 0) return errno_status("fork", command.path);
    if (pid == 0) become(command.path.c_str(), arguments.data(), variables.data(), streams, cores, origin);
  }
  ::setpgid(pid, pid);  // in both processes, so that it is done whoever runs first
  failure->write.reset();
  Failure why{};
  // Ends when the program has been started, which closes the pipe, or could not be.
  if (::read(failure->read.get(), &why, sizeof why) == sizeof why) {
    ::waitpid(pid, nullptr, 0);
    errno = why.reason;
    return why.on_the_way ? errno_status("setns", "a host of the lab") : errno_status("exec", command.path);
  }
  for (const Fd* fd : {&out->read, &err->read}) ::fcntl(fd->get(), F_SETFL, O_NONBLOCK);
  return Child{pid, std::move(out->read), std::move(err->read)};
}

}  // namespace strata::run
