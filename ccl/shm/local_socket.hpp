// Unix sockets without a name in the file system, over which ranks of one host pass each other descriptors.
// Records (SOCK_SEQPACKET): one send is one receive.
#pragma once
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "ccl/base/fd.hpp"
#include "strata/status.hpp"

namespace strata::shm {

inline constexpr std::size_t kPassedFds = 2;
using PassedFds = std::array<Fd, kPassedFds>;

struct LocalListener {
  Fd socket;
  std::string name;  // abstract, with a random suffix
};
Expected<LocalListener> listen_locally();
// ECONNREFUSED and EAGAIN (its queue of connections is full) are worth trying again: `again` is then true.
Expected<Fd> connect_locally(std::string_view name, bool& again);

// A timeout status: its queue is full, try again.
Status send_record(const Fd& socket, std::span<const std::byte> record, std::span<const int> fds = {});
Status send_record(int socket, std::span<const std::byte> record, std::span<const int> fds = {});
// The record that is there; a timeout status if there is none, peer_lost at the end. A record of another
// size, or with a number of descriptors other than expected (kPassedFds, or none without `fds`), is an error.
Status receive_record(const Fd& socket, std::span<std::byte> record, PassedFds* fds = nullptr);
// The same with any number of descriptors up to kPassedFds; how many came.
Expected<std::size_t> receive_some(int socket, std::span<std::byte> record, PassedFds& fds);

struct PeerProcess {
  uid_t user = 0;
  pid_t process = 0;  // 0: not visible from here
};
Expected<PeerProcess> peer_process(const Fd& socket);

// Waits until the socket is readable; a timeout status after that.
Status wait_readable(const Fd& socket, int milliseconds);

}  // namespace strata::shm
