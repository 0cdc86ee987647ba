// What both sides of the rendezvous are told.
#pragma once
#include <chrono>
#include <memory>
#include <string>

#include "ccl/bootstrap/rendezvous_address.hpp"
#include "ccl/bootstrap/rendezvous_introduction.hpp"
#include "ccl/transport/transport.hpp"
#include "strata/options.hpp"
#include "strata/status.hpp"

namespace strata::rendezvous {

struct Settings {
  RendezvousAddress address;
  std::string address_text;  // as the user gave it
  std::string secret;
  Introduction me;  // its milliseconds_left is the time all ranks have to come, and then to connect
  std::chrono::milliseconds report_every{5000};   // while somebody is missing
  std::chrono::milliseconds handshake_max{5000};  // a connection that has not proven itself by then is closed
};

// options have been validated.
Settings settings_from(const CommunicatorOptions& options);

// Rank 0, where the others meet.
Expected<std::unique_ptr<Exchange>> join_as_server(const Settings& settings);
// Any other rank.
Expected<std::unique_ptr<Exchange>> join_as_client(const Settings& settings);

}  // namespace strata::rendezvous
