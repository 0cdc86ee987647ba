// Makes the pipes of the TCP transport: first the descriptor, then, when all are known, the connections.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ccl/transport/factories.hpp"
#include "ccl/transport/pipe.hpp"
#include "ccl/transport/tcp/listening.hpp"

namespace strata::tcp {

class TcpPipes final {
 public:
  explicit TcpPipes(TcpOptions options) : options_(std::move(options)) {}
  Expected<std::string> descriptor();
  Expected<std::unique_ptr<PipeSet>> connect(Exchange& exchange, std::span<const std::string> descriptors,
                                             std::span<const Rank> peers);

 private:
  TcpOptions options_;
  std::vector<ListeningSocket> listeners_;
};

}  // namespace strata::tcp
