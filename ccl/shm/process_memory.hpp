// Reads the memory of another process, which needs no part of it: one copy, where the system allows it.
//
// A number names a process only as long as it lives, and only within one PID namespace. So each process has a
// word of its own, which is read along with whatever is read: if it is another one, so is the process.
#pragma once
#include <cstddef>
#include <cstdint>

#include "strata/status.hpp"

namespace strata::shm {

// Where others find a process.
struct ProcessMark {
  std::int64_t pid = 0;  // as it sees itself; 0: none
  std::uint64_t word_at = 0;
  std::uint64_t word = 0;
};
// Valid until the process ends, but not in a child of it. Where Yama lets only ancestors read (its
// ptrace_scope is 1), also lets the parent's other children read this process: the least that serves ranks
// which one launcher has started, since the parent itself may read it anyway. Not if the parent is process 1,
// whose children are many.
Expected<ProcessMark> mark_of_this_process();

// Reads `bytes`, at most 1 GiB, at an address of that process. Any thread. Error: unavailable, what is at
// fault and why; peer_lost, if the process is not there any more.
Status read_memory(const ProcessMark& of, std::uint64_t from, std::byte* into, std::uint64_t bytes);

// Can memory of this process be read so? Not what a device maps into it, for one. Looks at both ends.
bool others_can_read(const ProcessMark& own, const std::byte* at, std::uint64_t bytes);

}  // namespace strata::shm
