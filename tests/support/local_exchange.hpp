// An Exchange among threads of one process, and one between two processes that share a socket, for tests.
#pragma once
#include <sys/socket.h>
#include <unistd.h>

#include <barrier>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ccl/base/fd.hpp"
#include "ccl/transport/transport.hpp"

namespace strata::test {

class Deadline final {
 public:
  explicit Deadline(std::uint32_t milliseconds)
      : end_(std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds)) {}
  std::uint32_t milliseconds_left() const {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end_ - std::chrono::steady_clock::now())
            .count();
    return left > 0 ? static_cast<std::uint32_t>(left) : 0;
  }
  bool passed() const { return milliseconds_left() == 0; }

 private:
  std::chrono::steady_clock::time_point end_;
};

inline constexpr std::string_view kSessionKey = "0123456789abcdef0123456789abcdef";

// What the exchanges of all threads share.
class LocalExchangeHub final {
 public:
  explicit LocalExchangeHub(int size, std::uint32_t timeout_ms = 20'000)
      : texts(static_cast<std::size_t>(size)), barrier(size), deadline(timeout_ms) {}
  std::vector<std::string> texts;
  std::barrier<> barrier;
  Deadline deadline;
};

class LocalExchange final : public Exchange {
 public:
  LocalExchange(LocalExchangeHub& hub, int rank, std::string_view key = kSessionKey)
      : hub_(hub), rank_(rank), key_(key) {}
  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(hub_.texts.size()); }
  std::string_view session_key() const override { return key_; }
  std::uint32_t milliseconds_left() const override { return hub_.deadline.milliseconds_left(); }
  Expected<std::vector<std::string>> all_gather(std::string_view mine) override {
    hub_.texts[static_cast<std::size_t>(rank_)] = mine;
    hub_.barrier.arrive_and_wait();
    std::vector<std::string> all = hub_.texts;
    hub_.barrier.arrive_and_wait();
    return all;
  }

 private:
  LocalExchangeHub& hub_;
  int rank_;
  std::string key_;
};

// Ranks 0 and 1 at the two ends of a connected stream socket.
class SocketExchange final : public Exchange {
 public:
  SocketExchange(Fd socket, int rank, std::uint32_t timeout_ms = 20'000)
      : socket_(std::move(socket)), rank_(rank), deadline_(timeout_ms) {}
  int rank() const override { return rank_; }
  int size() const override { return 2; }
  std::string_view session_key() const override { return kSessionKey; }
  std::uint32_t milliseconds_left() const override { return deadline_.milliseconds_left(); }
  Expected<std::vector<std::string>> all_gather(std::string_view mine) override {
    std::uint64_t length = mine.size();
    std::vector<std::string> all(2);
    all[static_cast<std::size_t>(rank_)] = mine;
    if (!move(::send, &length, sizeof length) || !move(::send, const_cast<char*>(mine.data()), length) ||
        !move(::recv, &length, sizeof length))
      return Status(ErrorCode::peer_lost, "the other process is gone");
    std::string& theirs = all[static_cast<std::size_t>(1 - rank_)];
    theirs.resize(length);
    if (!move(::recv, theirs.data(), length))
      return Status(ErrorCode::peer_lost, "the other process is gone");
    return all;
  }

 private:
  template <class Call>
  bool move(Call call, void* data, std::size_t bytes) {
    for (std::size_t done = 0; done < bytes;) {
      const ssize_t n = call(socket_.get(), static_cast<char*>(data) + done, bytes - done, MSG_NOSIGNAL);
      if (n <= 0) return false;
      done += static_cast<std::size_t>(n);
    }
    return true;
  }

  Fd socket_;
  int rank_;
  Deadline deadline_;
};

}  // namespace strata::test
