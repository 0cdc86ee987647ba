// The transports there are.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "ccl/transport/transport.hpp"

namespace strata {

// Ranks that are threads of one process and were given the same hub: messages are matched and copied
// directly, with no protocol between. The reference for all others.
class MemoryHub;
std::shared_ptr<MemoryHub> make_memory_hub(int size, Capabilities capabilities = {});
std::unique_ptr<Transport> make_memory_transport(std::shared_ptr<MemoryHub> hub, Rank rank,
                                                 Listener& listener);

// Faults by seed, for tests: delays and reorders posts and completions, withholds progress, cuts ranks off,
// at the given odds. Give each rank a seed of its own.
struct Faults {
  std::uint64_t seed = 0;
  double delay = 0.1;  // chance that a post, a completion or all progress is held back for some polls
  std::uint32_t delay_polls_max = 20;
  double peer_death = 0;  // chance a post that this rank is cut off, as if killed: all its peers lose it, and
                          // it loses them
};
std::unique_ptr<Transport> make_faulty_transport(std::unique_ptr<Transport> inner, Faults faults);

struct TcpOptions {
  std::string interface;                     // CommunicatorOptions::interface
  std::uint16_t port_min = 0, port_max = 0;  // listening ports; 0, 0: any
  std::uint32_t streams = 1;                 // connections to each peer on each rail, 1 to kStreamsMax
  // Between hosts, in bytes; 0: tuned. See CommunicatorOptions::tcp_credit_kb and tcp_fragment_kb.
  std::size_t credit_bytes = 0, fragment_bytes = 0;
};
inline constexpr std::uint32_t kStreamsMax = 16;
inline constexpr std::uint32_t kRailsMax = 16;  // interfaces that are used at once
std::unique_ptr<TransportFactory> make_tcp_transport(TcpOptions options);

// Ranks of one host: rings in memory files (memfd) passed over a local socket, so nothing has a name in
// /dev/shm and nothing is left behind by any kind of death.
struct ShmOptions {
  std::uint32_t ring_bytes = 256 << 10;  // each direction of each pair
};
std::unique_ptr<TransportFactory> make_shm_transport(ShmOptions options);

}  // namespace strata
