// Ranks connect in a thread each, as connecting blocks; after that one thread may drive them all.
#include "tests/transport/shm_tcp_instances.hpp"

#include <catch2/catch.hpp>
#include <thread>

#include "ccl/transport/factories.hpp"
#include "ccl/transport/stream/frame.hpp"
#include "tests/support/local_exchange.hpp"

namespace strata::test {
namespace {

using MakeFactory = std::function<std::unique_ptr<TransportFactory>()>;

// Sets `end`, or says why there is none.
std::string connect_rank(Exchange& exchange, TransportFactory& factory, Listener& listener,
                         std::unique_ptr<Transport>& end) {
  const Expected<std::string> mine = factory.descriptor();
  const Expected<std::vector<std::string>> all = exchange.all_gather(mine ? *mine : std::string());
  if (!mine) return std::string(mine.status().message());
  std::vector<Rank> peers;
  for (Rank rank = 0; rank < exchange.size(); ++rank)
    if (rank != exchange.rank()) peers.push_back(rank);
  Expected<std::unique_ptr<Transport>> transport = factory.connect(exchange, *all, peers, listener);
  if (!transport) return std::string(transport.status().message());
  end = std::move(*transport);
  return "";
}

Ends connect(std::span<Listener* const> listeners, const MakeFactory& make) {
  LocalExchangeHub hub(static_cast<int>(listeners.size()));
  Ends ends(listeners.size());
  std::vector<std::string> failures(listeners.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < listeners.size(); ++i)
    threads.emplace_back([&, i] {
      LocalExchange exchange(hub, static_cast<int>(i));
      failures[i] = connect_rank(exchange, *make(), *listeners[i], ends[i]);
    });
  for (std::thread& t : threads) t.join();
  for (const std::string& failure : failures) REQUIRE(failure == "");
  return ends;
}

Instance instance(std::string name, std::uint64_t flood_bytes, MakeFactory make) {
  return {.name = std::move(name),
          .make = [make = std::move(make)](std::span<Listener* const> listeners,
                                           std::uint64_t) { return connect(listeners, make); },
          .eager_bytes_max = stream::kEagerBytesMax,
          .eager_window_bytes = stream::kEagerWindowBytes,
          .flood_bytes = flood_bytes};
}

Instance several_streams(Instance instance) {
  instance.keeps_order = false;
  return instance;
}

}  // namespace

std::vector<Instance> shm_tcp_instances() {
  return {
      instance("shared memory, rings of 4 KiB", 1 << 20, [] { return make_shm_transport(ShmOptions{4096}); }),
      instance("shared memory", 1 << 20, [] { return make_shm_transport(ShmOptions{}); }),
      instance("TCP", 16 << 20, [] { return make_tcp_transport({.interface = "127.0.0.1"}); }),
      several_streams(instance("TCP, 3 connections to a peer", 48 << 20,
                               [] { return make_tcp_transport({.interface = "127.0.0.1", .streams = 3}); })),
  };
}

}  // namespace strata::test
