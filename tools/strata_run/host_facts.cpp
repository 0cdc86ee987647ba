#include "tools/strata_run/host_facts.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>

#include "ccl/base/fd.hpp"

namespace strata::run {

std::vector<int> usable_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  std::vector<int> numbers;
  if (::sched_getaffinity(0, sizeof cores, &cores) == 0)
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &cores)) numbers.push_back(core);
  return numbers;
}

std::uint16_t free_port() {
  const Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(fd.get(), generic, length) != 0 || ::getsockname(fd.get(), generic, &length) != 0) return 0;
  return ntohs(address.sin_port);
}

}  // namespace strata::run
