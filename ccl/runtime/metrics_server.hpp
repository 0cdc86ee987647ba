// Shows a rank's counters to Prometheus: GET /metrics.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "strata/status.hpp"

namespace strata {

struct MetricsAddress {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;  // 0: any free one
};
// "host:port", "[IPv6]:port" or "port". Error: invalid_argument.
Expected<MetricsAddress> parse_metrics_address(std::string_view text);

class MetricsServer {
 public:
  virtual ~MetricsServer() = default;     // stops
  virtual std::string where() const = 0;  // "http://127.0.0.1:9400/metrics"
};

// text: called by a thread of its own until the server is destroyed. Error: unavailable, the address is not
// to be had.
Expected<std::unique_ptr<MetricsServer>> serve_metrics(const MetricsAddress& address,
                                                       std::function<std::string()> text);

}  // namespace strata
