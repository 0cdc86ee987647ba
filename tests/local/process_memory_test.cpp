// Reading another process's memory: its bytes, or an error that says which of the two, process or memory, is
// not there.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstring>
#include <vector>

#include "ccl/shm/process_memory.hpp"
#include "ccl/shm/words.hpp"

namespace strata::shm::test {
namespace {

constexpr std::uint64_t kBytes = 3 * kPageBytes;

std::uint64_t address(const void* at) { return reinterpret_cast<std::uintptr_t>(at); }

// A process that has told where it is to be found, and waits to be ended.
class Child {
 public:
  explicit Child(std::byte fill) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      const std::vector<std::byte> memory(kBytes, fill);
      const auto mark = mark_of_this_process();
      const Told told{*mark, address(memory.data())};
      if (::write(ends[1], &told, sizeof told) != sizeof told) ::_exit(1);
      for (;;) ::pause();
    }
    REQUIRE(::read(ends[0], &told_, sizeof told_) == sizeof told_);
    ::close(ends[0]);
    ::close(ends[1]);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { end(); }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  const ProcessMark& mark() const { return told_.mark; }
  std::uint64_t memory() const { return told_.memory; }

 private:
  struct Told {
    ProcessMark mark;
    std::uint64_t memory;
  };
  pid_t pid_ = 0;
  Told told_{};
};

// Two pages, the second of which is not there.
struct Cliff {
  Cliff() {
    void* const at =
        ::mmap(nullptr, 2 * kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(at != MAP_FAILED);
    memory = static_cast<std::byte*>(at);
    REQUIRE(::munmap(memory + kPageBytes, kPageBytes) == 0);
  }
  ~Cliff() { ::munmap(memory, kPageBytes); }
  std::byte* memory;
};

}  // namespace

TEST_CASE("what a process has told of its memory is read, and another's is not taken for it") {
  Child child(std::byte{7});
  std::vector<std::byte> into(kBytes);
  const Status read = read_memory(child.mark(), child.memory(), into.data(), kBytes);
  CAPTURE(read.message());
  REQUIRE(read.ok());
  CHECK(into == std::vector<std::byte>(kBytes, std::byte{7}));
  CHECK(read_memory(child.mark(), 0, nullptr, 0).ok());

  ProcessMark other = child.mark();
  other.word ^= 1;
  CHECK(read_memory(other, child.memory(), into.data(), kBytes).code() == ErrorCode::peer_lost);
  child.end();
  const Status gone = read_memory(child.mark(), child.memory(), into.data(), kBytes);
  CHECK(gone.code() == ErrorCode::peer_lost);
  CHECK(gone.message().find(std::to_string(child.mark().pid)) != std::string::npos);
}

TEST_CASE("memory that is not there, or ends too early, is an error, never part of a result") {
  const auto own = mark_of_this_process();
  REQUIRE(own.ok());
  const Cliff cliff;
  std::vector<std::byte> into(2 * kPageBytes);
  CHECK(read_memory(*own, address(cliff.memory), into.data(), kPageBytes).ok());
  const std::uint64_t from = GENERATE(0, 8, kPageBytes);
  const Status status = read_memory(*own, address(cliff.memory) + from, into.data(), kPageBytes + 1);
  CHECK(status.code() == ErrorCode::unavailable);
  CHECK(status.message().find("4097 bytes") != std::string::npos);
}

TEST_CASE("whether others can read a buffer is known beforehand") {
  const auto own = mark_of_this_process();
  REQUIRE(own.ok());
  const Cliff cliff;
  CHECK(others_can_read(*own, cliff.memory, kPageBytes));
  CHECK(others_can_read(*own, cliff.memory + 100, 0));
  CHECK_FALSE(others_can_read(*own, cliff.memory, kPageBytes + 1));
  CHECK_FALSE(others_can_read(*own, cliff.memory + kPageBytes, 1));
  CHECK_FALSE(others_can_read({}, cliff.memory, 1));
  REQUIRE(::mprotect(cliff.memory, kPageBytes, PROT_NONE) == 0);
  CHECK_FALSE(others_can_read(*own, cliff.memory, 1));
}

}  // namespace strata::shm::test
