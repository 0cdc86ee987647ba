#include "ccl/shm/process_memory.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <mutex>

#include "ccl/base/errno_status.hpp"

namespace strata::shm {
namespace {

// A word that no other process has, at a place that does not move.
const std::uint64_t* own_word() {
  static const std::uint64_t word = [] {
    std::uint64_t random = 0;
    return ::getrandom(&random, sizeof random, 0) == sizeof random ? random : 0;
  }();
  return &word;
}

void let_siblings_read() {
  static std::once_flag once;
  std::call_once(once, [] {
    int scope = 0;
    const pid_t parent = ::getppid();
    if (std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope && scope == 1 && parent > 1)
      ::prctl(PR_SET_PTRACER, parent, 0, 0, 0);
  });
}

}  // namespace

Expected<ProcessMark> mark_of_this_process() {
  const std::uint64_t* const word = own_word();
  if (*word == 0) return Status(ErrorCode::unavailable, "the system gives no random numbers");
  let_siblings_read();
  return ProcessMark{::getpid(), reinterpret_cast<std::uintptr_t>(word), *word};
}

Status read_memory(const ProcessMark& of, std::uint64_t from, std::byte* into, std::uint64_t bytes) {
  std::uint64_t word = 0;
  const std::array<iovec, 2> here{{{into, bytes}, {&word, sizeof word}}};
  const std::array<iovec, 2> there{
      {{reinterpret_cast<void*>(from), bytes}, {reinterpret_cast<void*>(of.word_at), sizeof word}}};
  const ssize_t got =
      ::process_vm_readv(static_cast<pid_t>(of.pid), here.data(), here.size(), there.data(), there.size(), 0);
  // The word is read last, and all of it from one process, if that should end meanwhile too.
  if (got == static_cast<ssize_t>(bytes + sizeof word) && word == of.word) return {};
  const bool gone = (got < 0 && errno == ESRCH) || (got == static_cast<ssize_t>(bytes + sizeof word));
  if (gone) return {ErrorCode::peer_lost, fmt::format("process {} is not there any more", of.pid)};
  const std::string what = fmt::format("{} bytes at {:#x} of process {}", bytes, from, of.pid);
  if (got < 0) return errno_status("process_vm_readv", what);
  return {
      ErrorCode::unavailable,
      fmt::format("process_vm_readv({}): only {} bytes can be read: was the buffer unmapped?", what, got)};
}

bool others_can_read(const ProcessMark& own, const std::byte* at, std::uint64_t bytes) {
  if (bytes == 0) return true;
  std::array<std::byte, 2> ends;
  const iovec here{ends.data(), ends.size()};
  const auto byte = [&](std::uint64_t offset) { return iovec{const_cast<std::byte*>(at) + offset, 1}; };
  const std::array<iovec, 2> there{byte(0), byte(bytes - 1)};
  return ::process_vm_readv(static_cast<pid_t>(own.pid), &here, 1, there.data(), there.size(), 0) ==
         static_cast<ssize_t>(ends.size());
}

}  // namespace strata::shm
