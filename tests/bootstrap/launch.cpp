#include "tests/bootstrap/launch.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <sstream>

#include "ccl/base/environment.hpp"

namespace strata::test {
namespace {

struct Pipe {
  Fd read, write;
};

Pipe make_pipe(int flags = O_CLOEXEC) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), flags) == 0);
  return {Fd(ends[0]), Fd(ends[1])};
}

std::vector<std::string> clean_environment(const std::vector<std::string>& added) {
  std::vector<std::string> all;
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    const std::string assignment = *entry, name = assignment.substr(0, assignment.find('='));
    const auto known = known_variables();
    const bool ours =
        std::any_of(known.begin(), known.end(), [&](const Variable& v) { return v.name == name; });
    if (!ours || name == "PATH") all.push_back(assignment);
  }
  all.insert(all.end(), added.begin(), added.end());
  return all;
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

bool read_more(const Fd& fd, std::string& into) {
  std::array<char, 4096> bytes;
  const ssize_t n = ::read(fd.get(), bytes.data(), bytes.size());
  if (n > 0) into.append(bytes.data(), static_cast<std::size_t>(n));
  return n > 0;
}

// A file of its own, so that what nobody reads cannot stop the writer.
Fd file_without_name() {
  std::string pattern = "/tmp/strata-test-err-XXXXXX";
  Fd fd(::mkostemp(pattern.data(), O_CLOEXEC | O_APPEND));
  REQUIRE(fd.valid());
  ::unlink(pattern.c_str());
  return fd;
}

}  // namespace

Launch::Launch(std::vector<std::string> arguments, std::vector<std::string> environment, std::string input) {
  arguments.insert(arguments.begin(), STRATA_RUN_PATH);
  const std::vector<std::string> all = clean_environment(environment);
  const std::vector<char*> argv = pointers_to(arguments), envp = pointers_to(all);
  Pipe in = make_pipe(), out = make_pipe(), life = make_pipe();
  REQUIRE(::write(in.write.get(), input.data(), input.size()) == static_cast<ssize_t>(input.size()));
  in.write.reset();
  err_fd_ = file_without_name();
  pid_ = ::fork();
  REQUIRE(pid_ >= 0);
  if (pid_ == 0) {
    ::dup2(in.read.get(), 0);
    ::dup2(out.write.get(), 1);
    ::dup2(err_fd_.get(), 2);
    ::fcntl(life.write.get(), F_SETFD, 0);  // all descendants inherit it
    ::execve(argv[0], argv.data(), envp.data());
    ::_exit(99);
  }
  out_fd_ = std::move(out.read);
  life_ = std::move(life.read);
}

Launch::~Launch() {
  if (status_ >= 0) return;
  signal(SIGKILL);
  exit_code();
}

bool Launch::wait_for(const std::string& text) {
  while (out_.find(text) == std::string::npos)
    if (!read_more(out_fd_, out_)) return false;
  return true;
}

int Launch::exit_code() {
  if (status_ < 0) {
    while (read_more(out_fd_, out_)) continue;
    int status = 0;
    ::waitpid(pid_, &status, 0);
    status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  return status_;
}

void Launch::wait_until_all_are_gone() {
  std::string nothing;
  while (read_more(life_, nothing)) continue;
}

const std::string& Launch::out() {
  exit_code();
  return out_;
}

std::string Launch::err_so_far() const {
  std::string text;
  std::array<char, 4096> bytes;
  for (ssize_t n;
       (n = ::pread(err_fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(text.size()))) > 0;)
    text.append(bytes.data(), static_cast<std::size_t>(n));
  return text;
}

const std::string& Launch::err() {
  exit_code();
  return err_ = err_so_far();
}

Result launch(std::vector<std::string> arguments, std::vector<std::string> environment, std::string input) {
  Launch running(std::move(arguments), std::move(environment), std::move(input));
  return {running.exit_code(), running.out(), running.err()};
}

std::vector<std::string> sorted_lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace strata::test
