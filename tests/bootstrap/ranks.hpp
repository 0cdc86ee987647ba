// Ranks as threads, and places where they can meet.
#pragma once
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ccl/base/fd.hpp"
#include "ccl/bootstrap/bootstrap.hpp"
#include "ccl/bootstrap/rendezvous_settings.hpp"

namespace strata::test {

// A folder of its own, removed at the end.
class TemporaryFolder final {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "strata-test-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::string path(const std::string& name) const { return path_ + "/" + name; }
  bool empty() const { return std::filesystem::is_empty(path_); }

 private:
  std::string path_;
};

// A loopback port that nobody uses now. It lies below the ports the system hands out, so nobody gets it by
// chance.
inline int free_port(int family = AF_INET) {
  static std::atomic<int> next{20'000 + ::getpid() % 5'000};
  for (;;) {
    const int port = next++;
    const Fd fd(::socket(family, SOCK_STREAM, 0));
    sockaddr_in v4{};
    v4.sin_family = AF_INET, v4.sin_port = htons(static_cast<std::uint16_t>(port));
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6, v6.sin6_port = v4.sin_port, v6.sin6_addr = in6addr_loopback;
    const bool is_v4 = family == AF_INET;
    const auto* address =
        is_v4 ? reinterpret_cast<const sockaddr*>(&v4) : reinterpret_cast<const sockaddr*>(&v6);
    if (::bind(fd.get(), address, is_v4 ? sizeof v4 : sizeof v6) == 0) return port;
  }
}

inline std::string free_address() { return "127.0.0.1:" + std::to_string(free_port()); }

inline CommunicatorOptions options_of(int rank, int size, const std::string& rendezvous) {
  CommunicatorOptions options;
  options.rank = rank, options.size = size, options.rendezvous = rendezvous;
  options.secret = "open sesame";
  return options;
}

inline Expected<std::unique_ptr<Exchange>> join_with(const rendezvous::Settings& settings) {
  return settings.me.rank == 0 ? rendezvous::join_as_server(settings) : rendezvous::join_as_client(settings);
}

// Runs one call in each of several threads, started in the given order, and waits for all.
inline void in_threads(const std::vector<int>& order, const std::function<void(int)>& call) {
  std::vector<std::thread> threads;
  for (const int index : order) threads.emplace_back(call, index);
  for (std::thread& thread : threads) thread.join();
}

inline std::vector<int> up_to(int n) {
  std::vector<int> all(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) all[static_cast<std::size_t>(i)] = i;
  return all;
}

inline bool says(const Status& status, std::string_view part) {
  return status.message().find(part) != std::string_view::npos;
}

inline std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

}  // namespace strata::test
