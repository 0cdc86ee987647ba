#include "tests/support/processes.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <stdexcept>

namespace strata::test {
namespace {

constexpr char kReady = '\1';

struct Child {
  pid_t pid;
  int read_end;
};

void write_all(int fd, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = ::write(fd, text.data() + at, text.size() - at);
    if (n <= 0) return;
    at += static_cast<std::size_t>(n);
  }
}

Child start(int rank, const RankBody& body) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) throw std::runtime_error("pipe");
  const pid_t pid = ::fork();
  if (pid < 0) throw std::runtime_error("fork");
  if (pid == 0) {
    ::close(ends[0]);
    int code = 0;
    std::string text;
    try {
      text = body(rank, [&] { write_all(ends[1], std::string(1, kReady)); });
    } catch (const std::exception& e) {
      text = e.what();
      code = 99;
    }
    write_all(ends[1], text);
    ::close(ends[1]);
    std::exit(code);  // with the sanitizers' checks at exit
  }
  ::close(ends[1]);
  return {pid, ends[0]};
}

std::string read_some(int fd) {
  std::array<char, 4096> buffer;
  const ssize_t n = ::read(fd, buffer.data(), buffer.size());
  return n > 0 ? std::string(buffer.data(), static_cast<std::size_t>(n)) : std::string();
}

}  // namespace

std::vector<ProcessEnd> run_processes(int size, const RankBody& body,
                                      const std::function<void(const std::vector<pid_t>&)>& meddle) {
  std::vector<Child> children;
  std::vector<pid_t> pids;
  for (int rank = 0; rank < size; ++rank) children.push_back(start(rank, body));
  std::vector<std::string> texts;
  for (const Child& c : children) {
    texts.push_back(read_some(c.read_end));  // ready, or the end
    pids.push_back(c.pid);
  }
  meddle(pids);
  std::vector<ProcessEnd> ends;
  for (std::size_t i = 0; i < children.size(); ++i) {
    for (std::string more = read_some(children[i].read_end); !more.empty();
         more = read_some(children[i].read_end))
      texts[i] += more;
    ::close(children[i].read_end);
    int status = 0;
    ::waitpid(children[i].pid, &status, 0);
    std::erase(texts[i], kReady);
    ends.push_back(
        {WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : 0, texts[i]});
  }
  return ends;
}

}  // namespace strata::test
