// A job inside one test process: ranks are threads, joined over the transport under test.
#pragma once
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "ccl/transport/factories.hpp"
#include "strata/communicator.hpp"

namespace strata::test {

enum class Wire {
  memory,
  memory_lowered,  // no fused receive-and-reduce, short messages
  shm,             // collectives on common memory where they can be
  shm_messages,    // the same transport, and nothing but messages
  tcp,
};
const char* name_of(Wire wire);

struct WorldOptions {
  Wire wire = Wire::memory;
  CommunicatorOptions communicator;  // rank, size, rendezvous and transport are filled in
  const Faults* faults = nullptr;    // memory only; each rank gets a seed of its own
};

// Thrown by EXPECT in a rank's thread; Catch2's own assertions belong to the main thread.
struct ExpectationFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Runs `body` once on each rank. Returns what went wrong at which rank, one line each; empty: nothing.
std::string run_world(int size, const WorldOptions& options, const std::function<void(Communicator&)>& body);

// Makes one rank's communicator by hand; for tests that need other than one thread a rank.
Expected<Communicator> join_world(int rank, int size, const WorldOptions& options, const std::string& meeting,
                                  const std::shared_ptr<MemoryHub>& hub);
std::string make_meeting_place();  // a rendezvous path of its own

}  // namespace strata::test

#define EXPECT(condition)                                                                              \
  do {                                                                                                 \
    if (!(condition))                                                                                  \
      throw ::strata::test::ExpectationFailed(std::string(__FILE__) + ":" + std::to_string(__LINE__) + \
                                              ": " #condition);                                        \
  } while (false)
#define EXPECT_OK(status)                                                                              \
  do {                                                                                                 \
    if (const ::strata::Status status_ = (status); !status_.ok())                                      \
      throw ::strata::test::ExpectationFailed(std::string(__FILE__) + ":" + std::to_string(__LINE__) + \
                                              ": " + std::string(status_.message()));                  \
  } while (false)
