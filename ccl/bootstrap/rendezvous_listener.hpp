// The socket at which rank 0 waits for the others.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <string>

#include "ccl/base/fd.hpp"
#include "ccl/bootstrap/rendezvous_address.hpp"
#include "strata/status.hpp"

namespace strata::rendezvous {

// A socket's name in the file system; removed with this object, if it is still the same one.
class BoundPath final {
 public:
  BoundPath() = default;
  explicit BoundPath(std::string path);  // the socket has just been bound
  BoundPath(BoundPath&& other) noexcept { swap(other); }
  BoundPath& operator=(BoundPath&& other) noexcept {
    swap(other);
    return *this;
  }
  ~BoundPath();

 private:
  void swap(BoundPath& other) noexcept;
  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

struct ListeningSocket {
  Fd fd;  // non-blocking
  int family = 0;
  std::string where;      // for people
  bool loopback = false;  // only ranks of this host can come
  BoundPath path;
};

// A numeric address of this host, or a loopback name, is listened at alone. Other names, and addresses that
// this host does not have (they are translated on the way), are listened for at all addresses: what they mean
// elsewhere cannot be known here. A path that a dead process left is taken over. Error: unavailable that
// names the address, the system's reason and the cure.
Expected<ListeningSocket> listen_at(const RendezvousAddress& address);

}  // namespace strata::rendezvous
