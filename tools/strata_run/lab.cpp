#include "tools/strata_run/lab.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "ccl/base/errno_status.hpp"
#include "tools/strata_run/child.hpp"

namespace strata::run {
namespace {

constexpr std::size_t kAnswerBytesMax = 1 << 20;
constexpr int kMistake = 2;  // exit code of strata-lab

Expected<std::string> find_command(std::string_view path) {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  if (auto beside = find_program((here / "strata-lab").string(), path)) return beside;
  if (auto found = find_program("strata-lab", path)) return found;
  return Status(
      ErrorCode::unavailable,
      fmt::format(
          "--lab needs the command strata-lab, which is neither in {} nor in PATH; it is installed with "
          "strata-run, and is tools/lab/lab of the sources",
          here.string()));
}

// In the new process. Signals of a terminal are for the job, and must not end the lab before it.
[[noreturn]] void become(const std::string& command, std::vector<std::string> arguments, const Fd& in,
                         const Fd& out) {
  ::setpgid(0, 0);
  ::dup2(in.get(), STDIN_FILENO);
  ::dup2(out.get(), STDOUT_FILENO);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  ::execv(command.c_str(), pointers.data());
  ::perror(command.c_str());
  ::_exit(127);
}

// Up to the end of the line, or of the stream.
std::string read_line(const Fd& from) {
  std::string line;
  char c = 0;
  while (line.size() < kAnswerBytesMax) {
    const ssize_t n = ::read(from.get(), &c, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0 || c == '\n') break;
    line += c;
  }
  return line;
}

}  // namespace

std::vector<std::string> lab_arguments(const LabOptions& options, pid_t job) {
  std::vector<std::string> all = {"strata-lab", "up", "--attached", "--name"};
  all.push_back(options.name.empty() ? fmt::format("run-{}", job) : options.name);
  const auto add = [&all](const char* option, const std::string& value) {
    if (!value.empty()) all.insert(all.end(), {option, value});
  };
  add("--hosts", std::to_string(options.shape.ranks.size()));
  const auto& rates = options.shape.rates;
  if (!rates.empty()) add("--rails", std::to_string(rates[0].size()));
  for (std::size_t host = 0; host < rates.size(); ++host)
    for (std::size_t rail = 0; rail < rates[host].size(); ++rail)
      add("--rate", fmt::format("host{}.rail{}={}", host, rail, rates[host][rail]));
  if (options.racks > 1) add("--racks", std::to_string(options.racks));
  add("--uplink", options.uplink);
  add("--delay", options.delay);
  return all;
}

Expected<Lab> Lab::start(const LabOptions& options, std::string_view path) {
  const auto command = find_command(path);
  if (!command) return command.status();
  std::array<int, 2> in{}, out{};
  if (::pipe2(in.data(), O_CLOEXEC) != 0) return errno_status("pipe2", "strata-lab");
  const Fd in_read(in[0]);
  Fd in_write(in[1]);
  if (::pipe2(out.data(), O_CLOEXEC) != 0) return errno_status("pipe2", "strata-lab");
  const Fd out_read(out[0]);
  Fd out_write(out[1]);
  const pid_t job = ::getpid(), pid = ::fork();
  if (pid < 0) return errno_status("fork", *command);
  if (pid == 0) become(*command, lab_arguments(options, job), in_read, out_write);
  out_write.reset();
  Lab lab(pid, std::move(in_write));
  if (Status s = lab.read_hosts(out_read); !s.ok()) return s;
  return lab;
}

Status Lab::read_hosts(const Fd& output) {
  const std::string line = read_line(output);
  if (line.empty()) {
    const bool mistake = end() == kMistake;
    return {mistake ? ErrorCode::invalid_argument : ErrorCode::unavailable, "the lab could not be started"};
  }
  try {
    const auto facts = nlohmann::json::parse(line);
    for (const auto& host : facts.at("hosts")) {
      // glibc 2.36 declares pidfd_open for C only.
      Fd process(static_cast<int>(::syscall(SYS_pidfd_open, host.at("pid").get<pid_t>(), 0)));
      if (!process.valid()) return errno_status("pidfd_open", "a host of the lab");
      hosts_.push_back({std::move(process), host.at("rails").at(0).at("address")});
    }
  } catch (const nlohmann::json::exception& error) {
    return {ErrorCode::unavailable,
            fmt::format("the answer of strata-lab is not understood; is it of another version? {}",
                        error.what())};
  }
  return {};
}

Lab::Lab(Lab&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)), input_(std::move(other.input_)), hosts_(std::move(other.hosts_)) {}

Lab::~Lab() { end(); }

int Lab::end() {
  input_.reset();
  int status = 0;
  const pid_t pid = std::exchange(pid_, 0);
  if (pid == 0) return 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace strata::run
