// The list of transports under test. A new transport is a new entry here.
#include "tests/transport/instances.hpp"

#include "ccl/transport/factories.hpp"
#include "ccl/transport/stream/frame.hpp"
#include "tests/transport/ring_pipes.hpp"
#include "tests/transport/shm_tcp_instances.hpp"

namespace strata::test {
namespace {

using Listeners = std::span<Listener* const>;

Ends make_memory(Listeners listeners, std::uint64_t) {
  const auto hub = make_memory_hub(static_cast<int>(listeners.size()));
  Ends ends;
  for (Listener* listener : listeners) {
    ends.push_back(make_memory_transport(hub, static_cast<Rank>(ends.size()), *listener));
  }
  return ends;
}

Ends make_rings(Listeners listeners, RingOptions options) {
  const auto network = make_ring_network(static_cast<int>(listeners.size()), options);
  Ends ends;
  for (Listener* listener : listeners) {
    ends.push_back(
        make_stream_transport(make_ring_pipes(network, static_cast<Rank>(ends.size())), *listener));
  }
  return ends;
}

Ends with_faults(Ends ends, std::uint64_t seed) {
  for (auto& end : ends)
    end = make_faulty_transport(std::move(end), {.seed = seed++, .delay = 0.2, .delay_polls_max = 10});
  return ends;
}

Instance memory() { return {.name = "memory", .make = make_memory, .moves_at_post = true}; }

Instance stream(std::string name, std::size_t ring_bytes, bool short_io, std::size_t streams = 1) {
  return {.name = std::move(name),
          .make =
              [=](Listeners listeners, std::uint64_t seed) {
                return make_rings(listeners, {ring_bytes, short_io ? seed + 1 : 0, streams});
              },
          .eager_bytes_max = stream::kEagerBytesMax,
          .eager_window_bytes = stream::kEagerWindowBytes,
          .keeps_order = streams == 1,
          .slow = ring_bytes < stream::kFrameBytes};
}

Instance faulty(Instance inner) {
  inner.name = "faulty " + inner.name;
  inner.make = [make = inner.make](Listeners listeners, std::uint64_t seed) {
    return with_faults(make(listeners, seed), seed * 1000);
  };
  inner.keeps_order = false;
  return inner;
}

}  // namespace

std::vector<Instance> instances() {
  std::vector<Instance> all{
      memory(),
      stream("stream, rings smaller than a header", 48, false),
      stream("stream, rings of 4 KiB, short I/O", 4096, true),
      stream("stream, rings of 5000 bytes", 5000, false),
      stream("stream, rings of 256 KiB", 256 << 10, false),
      stream("stream, rings of 256 KiB, short I/O", 256 << 10, true),
      stream("stream, 3 rings of 5000 bytes to a peer", 5000, false, 3),
      stream("stream, 2 rings of 4 KiB to a peer, short I/O", 4096, true, 2),
      faulty(memory()),
      faulty(stream("stream, rings of 64 KiB", 64 << 10, false)),
  };
  for (Instance& instance : shm_tcp_instances()) all.push_back(std::move(instance));
  return all;
}

}  // namespace strata::test
