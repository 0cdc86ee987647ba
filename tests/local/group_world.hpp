// Groups in one process and one thread: each member is advanced by hand, in any order.
#pragma once
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "ccl/base/fd.hpp"
#include "ccl/local/shm_group.hpp"

namespace strata::test {

class GroupWorld {
 public:
  // reads: a bit a member, whether it lets others read its memory, and reads theirs.
  explicit GroupWorld(int size, ReadingRule rule = reading_pays, unsigned reads = ~0u)
      : sleeping_(static_cast<std::size_t>(size)) {
    std::vector<std::vector<shm::Neighbours::Link>> links(static_cast<std::size_t>(size));
    for (int i = 0; i < size; ++i) bells_.emplace_back(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    for (int a = 0; a < size; ++a)
      for (int b = a + 1; b < size; ++b) {
        int ends[2];
        REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
        for (const int end : ends) sockets_.emplace_back(end);
        links[index(a)].push_back({b, bell(b), ends[0]});
        links[index(b)].push_back({a, bell(a), ends[1]});
      }
    std::vector<Rank> members;
    for (int i = 0; i < size; ++i) members.push_back(i);
    for (int i = 0; i < size; ++i) {
      neighbours_.push_back(std::make_unique<shm::Neighbours>(links[index(i)]));
      groups_.push_back(std::make_unique<ShmGroup>(*neighbours_.back(), members, i, shm::kGroupKey | 7,
                                                   GroupOptions{(reads >> i & 1) != 0, rule}));
    }
  }
  ShmGroup& group(int member) { return *groups_[index(member)]; }
  // As engines do: others let go of what has been freed.
  void tend() {
    Allocations& allocations = Allocations::of_process();
    for (const std::uint64_t key : allocations.freed_since(freed_seen_)) {
      ++freed_seen_;
      for (const auto& neighbours : neighbours_) neighbours->withdraw(key);
    }
  }
  std::atomic<std::uint32_t>& sleeping(int member) { return sleeping_[index(member)]; }

 private:
  std::uint64_t freed_seen_ = Allocations::of_process().freed();
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  shm::Doorbell bell(int i) { return {&sleeping_[index(i)], bells_[index(i)].get()}; }

  std::vector<std::atomic<std::uint32_t>> sleeping_;
  std::vector<Fd> bells_, sockets_;
  std::vector<std::unique_ptr<shm::Neighbours>> neighbours_;
  std::vector<std::unique_ptr<ShmGroup>> groups_;
};

}  // namespace strata::test
