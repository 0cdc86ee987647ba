// Which transport serves which peer.
#pragma once
#include <memory>
#include <vector>

#include "ccl/schedule/lower.hpp"
#include "ccl/transport/transport.hpp"

namespace strata {

class Router final {
 public:
  // route[r]: index into transports of what serves rank r.
  Router(std::vector<std::unique_ptr<Transport>> transports, std::vector<std::uint8_t> route)
      : transports_(std::move(transports)), route_(std::move(route)) {}
  Transport& to(Rank peer) { return *transports_[route_[static_cast<std::size_t>(peer)]]; }
  const Transport& to(Rank peer) const { return *transports_[route_[static_cast<std::size_t>(peer)]]; }
  const std::vector<std::unique_ptr<Transport>>& all() const { return transports_; }
  int size() const { return static_cast<int>(route_.size()); }

 private:
  std::vector<std::unique_ptr<Transport>> transports_;
  std::vector<std::uint8_t> route_;
};

}  // namespace strata
