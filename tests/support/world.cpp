#include "tests/support/world.hpp"

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <numeric>
#include <thread>

#include "ccl/runtime/communicator_impl.hpp"
#include "ccl/transport/self_transport.hpp"

namespace strata::test {
namespace {

Communicator join_hub(int rank, int size, const WorldOptions& options,
                      const std::shared_ptr<MemoryHub>& hub) {
  std::vector<Peer> peers(static_cast<std::size_t>(size));
  for (Peer& p : peers) p = {.host = "here", .pid = ::getpid()};
  auto engine = std::make_shared<Engine>(rank, std::move(peers));
  std::vector<std::unique_ptr<Transport>> transports;
  transports.push_back(make_memory_transport(hub, rank, *engine));
  if (options.faults) {
    Faults faults = *options.faults;
    faults.seed = faults.seed * 1000003 + static_cast<std::uint64_t>(rank);
    transports[0] = make_faulty_transport(std::move(transports[0]), faults);
  }
  transports.push_back(make_self_transport());
  std::vector<std::uint8_t> route(static_cast<std::size_t>(size), 0);
  route[static_cast<std::size_t>(rank)] = 1;
  std::vector<Rank> members(static_cast<std::size_t>(size));
  std::iota(members.begin(), members.end(), 0);
  auto state = std::make_shared<CommunicatorState>(kFirstCommunicator, std::move(members), rank);
  state->timeout_ms = options.communicator.timeout_ms;
  state->algorithm = options.communicator.algorithm;
  engine->attach(std::make_unique<Router>(std::move(transports), std::move(route)), state,
                 {.progress_thread = options.communicator.progress_thread,
                  .spin = std::chrono::microseconds(options.communicator.spin_us),
                  .yield = true});
  return Communicator(std::make_shared<Communicator::Impl>(std::move(engine), std::move(state)));
}

bool in_hub(Wire wire) { return wire == Wire::memory || wire == Wire::memory_lowered; }

}  // namespace

const char* name_of(Wire wire) {
  switch (wire) {
    case Wire::memory: return "memory";
    case Wire::memory_lowered: return "memory, lowered";
    case Wire::shm: return "shm";
    case Wire::shm_messages: return "shm, messages";
    case Wire::tcp: return "tcp";
  }
  return "?";
}

std::string make_meeting_place() {
  static std::atomic<int> next{0};
  return (std::filesystem::temp_directory_path() /
          ("strata-test-" + std::to_string(::getpid()) + "-" + std::to_string(next++)))
      .string();
}

Expected<Communicator> join_world(int rank, int size, const WorldOptions& options, const std::string& meeting,
                                  const std::shared_ptr<MemoryHub>& hub) {
  if (in_hub(options.wire)) return join_hub(rank, size, options, hub);
  CommunicatorOptions o = options.communicator;
  o.rank = rank;
  o.size = size;
  o.rendezvous = meeting;
  if (o.calibrate.empty()) o.calibrate = "off";  // tests leave nothing in the user's cache
  o.transport = options.wire == Wire::tcp ? "tcp" : "shm";
  if (options.wire == Wire::shm_messages && o.algorithm.empty()) o.algorithm = "messages";
  return Communicator::create(o);
}

std::string run_world(int size, const WorldOptions& options, const std::function<void(Communicator&)>& body) {
  std::shared_ptr<MemoryHub> hub;
  if (in_hub(options.wire))
    hub = make_memory_hub(size,
                          options.wire == Wire::memory_lowered ? Capabilities{false, 1024} : Capabilities{});
  const std::string meeting = make_meeting_place();
  std::mutex mutex;
  std::string failures;
  const auto report = [&](int rank, const std::string& what) {
    const std::lock_guard lock(mutex);
    failures += "rank " + std::to_string(rank) + ": " + what + "\n";
  };
  const auto rank_main = [&](int rank) {
    try {
      auto communicator = join_world(rank, size, options, meeting, hub);
      if (!communicator) return report(rank, std::string(communicator.status().message()));
      body(*communicator);
    } catch (const std::exception& e) {
      report(rank, e.what());
    }
  };
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) threads.emplace_back(rank_main, rank);
  for (std::thread& t : threads) t.join();
  return failures;
}

}  // namespace strata::test
