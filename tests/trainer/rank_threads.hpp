// Ranks as threads of one process, over the real communicator.
#pragma once
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "trainer/train/peers.hpp"

namespace strata::trainer {

// Runs body(peers) on `size` ranks and returns when all have ended. One rank is alone and has no
// communicator. The body must not use Catch's macros: they are for one thread. transport: as
// CommunicatorOptions has it.
inline void on_ranks(int size, const std::function<void(Peers&)>& body, const std::string& transport = {}) {
  if (size == 1) {
    Peers alone;
    return body(alone);
  }
  static std::atomic<int> meetings{0};
  const auto meeting = std::filesystem::temp_directory_path() /
                       ("strata_ranks_" + std::to_string(::getpid()) + "_" + std::to_string(meetings++));
  std::vector<std::jthread> ranks;
  for (int rank = 0; rank < size; ++rank) {
    ranks.emplace_back([&, rank] {
      CommunicatorOptions options;
      options.rendezvous = meeting.string();
      options.rank = options.local_rank = rank;
      options.size = size;
      options.timeout_ms = 60'000;
      options.transport = transport;
      options.calibrate = "off";  // the same algorithms each time
      auto communicator = Communicator::create(options);
      if (!communicator.ok()) {
        std::fprintf(stderr, "rank %d: %s\n", rank, std::string(communicator.status().message()).c_str());
        std::abort();
      }
      Peers peers(std::move(communicator).value());
      body(peers);
    });
  }
}

}  // namespace strata::trainer
