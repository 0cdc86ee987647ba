// The pipes of shared memory keep the laws of all pipes, leave nothing behind, and say what a system refuses.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>

#include "ccl/shm/local_socket.hpp"
#include "ccl/transport/handshake.hpp"
#include "ccl/transport/shm/shm_descriptor.hpp"
#include "ccl/transport/shm/shm_pipes.hpp"
#include "tests/transport/shm_tcp_laws.hpp"

namespace strata::test {
namespace {

PipeKind shm(std::uint32_t ring_bytes) {
  return {"shm with rings of " + std::to_string(ring_bytes),
          [=] { return std::make_unique<PipeMakerOf<shm::ShmPipes>>(ShmOptions{ring_bytes}); }};
}

constexpr std::uint32_t kRings[] = {4096, 64 << 10, 256 << 10};

// In this thread and its children the call fails with EPERM, as in a container that does not allow it.
bool refuse(unsigned call) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{4, program};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

// Names of mapped files of ours that are not anonymous memory files.
std::vector<std::string> named_mappings() {
  std::vector<std::string> named;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find("/dev/shm/") != std::string::npos) named.push_back(line);
  return named;
}

}  // namespace

TEST_CASE("shared memory carries every byte once and in order") {
  const std::uint64_t seed = GENERATE(1u, 2u);
  for (const std::uint32_t ring_bytes : kRings)
    check_streams(shm(ring_bytes), 4, seed, std::min(50u * ring_bytes, 500'000u));
}

TEST_CASE("shared memory carries every byte between processes") {
  for (const std::uint32_t ring_bytes : kRings)
    check_streams_between_processes(shm(ring_bytes), 4, std::min(100u * ring_bytes, 3'000'000u));
}

TEST_CASE("shared memory loses no wake-up") {
  check_wake_ups(shm(4096), 5, 20'000, 4'000'000);
  check_wake_ups(shm(64 << 10), 6, 10'000, 4'000'000);
}

TEST_CASE("shared memory notices the death of a peer") {
  check_death(shm(64 << 10), false);
  check_death(shm(64 << 10), true);
  check_goodbye(shm(64 << 10));
}

TEST_CASE("shared memory leaves no descriptor and no name behind") {
  check_no_descriptor_is_left(shm(64 << 10));
  const std::vector<std::string> before = named_mappings();
  run_threads(shm(64 << 10), 2, [&](int, PipeSet&) -> std::string {
    return named_mappings() == before ? "" : named_mappings().back();
  });
}

TEST_CASE("shared memory refuses who does not have the session key") { check_wrong_key(shm(64 << 10)); }

TEST_CASE("strangers do not disturb the meeting of ranks on a host") {
  LocalExchangeHub hub(2);
  std::vector<Fd> strangers;  // in the listeners' queues before any rank, and staying
  std::array<shm::ShmPipes, 2> makers{shm::ShmPipes(ShmOptions{}), shm::ShmPipes(ShmOptions{})};
  std::vector<std::string> descriptors;
  for (shm::ShmPipes& maker : makers) {
    descriptors.push_back(*maker.descriptor());
    const std::string socket = shm::parse_shm_descriptor(descriptors.back())->socket;
    constexpr std::size_t kHello = sizeof(Hello);
    for (const std::size_t length :
         {std::size_t{0}, std::size_t{1}, kHello - 1, kHello, kHello, kHello + 1, std::size_t{5000}}) {
      bool again = false;
      strangers.push_back(std::move(*shm::connect_locally(socket, again)));
      std::vector<std::byte> says(length, std::byte{1});
      Hello impostor = *make_hello({'s', 't', 'r', 's', 'h', 'm', '0', '2'}, 0, 1);
      if (strangers.size() % 7 == 5) std::memcpy(says.data(), &impostor, sizeof impostor);
      const int passed[2] = {0, 0};
      if (length > 0)
        CHECK(shm::send_record(strangers.back(), says, std::span(passed).first((length + 1) % 3)).ok());
    }
  }
  const std::size_t passed_on = open_descriptors().size();
  std::array<std::string, 2> failures;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      const auto i = static_cast<std::size_t>(rank);
      LocalExchange exchange(hub, rank);
      failures[i] = makers[i].connect(exchange, descriptors, all_but(rank, 2)).status().message();
    });
  for (std::thread& t : threads) t.join();
  CHECK(failures == std::array<std::string, 2>{});
  makers = {shm::ShmPipes(ShmOptions{}), shm::ShmPipes(ShmOptions{})};
  CHECK(open_descriptors().size() ==
        passed_on - 2);  // two listeners fewer, and what strangers passed is closed
}

TEST_CASE("shared memory says which call the system refuses") {
  const std::array<std::pair<unsigned, std::string>, 4> calls{{{SYS_memfd_create, "memfd_create"},
                                                               {SYS_eventfd2, "eventfd"},
                                                               {SYS_sendmsg, "SCM_RIGHTS"},
                                                               {SYS_socket, "socket"}}};
  for (const auto& [call, name] : calls) {
    INFO(name);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      if (!refuse(call)) ::_exit(0);  // filters themselves are not allowed here
      shm::ShmPipes pipes{ShmOptions{}};
      const Expected<std::string> descriptor = pipes.descriptor();
      ::_exit(!descriptor && descriptor.status().message().find(name) != std::string_view::npos ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
}

TEST_CASE("shared memory wants rings of a power of two") {
  for (const std::uint32_t ring_bytes : {0u, 1u, 2048u, 5000u, 12288u, 0x80000000u}) {
    shm::ShmPipes pipes{ShmOptions{ring_bytes}};
    const Expected<std::string> descriptor = pipes.descriptor();
    REQUIRE(!descriptor);
    CHECK(descriptor.status().code() == ErrorCode::invalid_argument);
    CHECK(descriptor.status().message().find(std::to_string(ring_bytes)) != std::string_view::npos);
  }
}

}  // namespace strata::test
