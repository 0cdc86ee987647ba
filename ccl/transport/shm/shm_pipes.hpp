// Makes the pipes of the shared memory transport: first the descriptor, then, when all are known, the
// connections.
#pragma once
#include <memory>
#include <span>
#include <string>

#include "ccl/shm/local_socket.hpp"
#include "ccl/transport/factories.hpp"
#include "ccl/transport/pipe.hpp"

namespace strata::shm {

class ShmPipes final {
 public:
  explicit ShmPipes(ShmOptions options) : options_(options) {}
  // Tries what it needs; an error says which call the system refuses.
  Expected<std::string> descriptor();
  Expected<std::unique_ptr<PipeSet>> connect(Exchange& exchange, std::span<const std::string> descriptors,
                                             std::span<const Rank> peers);

 private:
  ShmOptions options_;
  LocalListener listener_;
};

}  // namespace strata::shm
