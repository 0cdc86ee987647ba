// The TCP transport: the stream protocol over one connection to each peer.
#include "ccl/transport/factories.hpp"
#include "ccl/transport/tcp/tcp_descriptor.hpp"
#include "ccl/transport/tcp/tcp_pipes.hpp"

namespace strata {
namespace {

class TcpFactory final : public TransportFactory {
 public:
  explicit TcpFactory(TcpOptions options) : pipes_(std::move(options)) {}
  std::string_view name() const override { return "tcp"; }
  Expected<std::string> descriptor() override { return pipes_.descriptor(); }
  bool reaches(std::string_view mine, std::string_view theirs) const override {
    const auto a = tcp::parse_tcp_descriptor(mine), b = tcp::parse_tcp_descriptor(theirs);
    return a && b && tcp::reachable(*a, *b);
  }
  std::string why_unreachable(std::string_view mine, std::string_view theirs) const override {
    const auto a = tcp::parse_tcp_descriptor(mine), b = tcp::parse_tcp_descriptor(theirs);
    if (!a || !b) return std::string((a ? b : a).status().message());
    return tcp::why_unreachable(*a, *b);
  }
  Expected<std::unique_ptr<Transport>> connect(Exchange& exchange, std::span<const std::string> descriptors,
                                               std::span<const Rank> peers, Listener& listener) override {
    Expected<std::unique_ptr<PipeSet>> pipes = pipes_.connect(exchange, descriptors, peers);
    if (!pipes) return pipes.status();
    return make_stream_transport(std::move(*pipes), listener);
  }

 private:
  tcp::TcpPipes pipes_;
};

}  // namespace

std::unique_ptr<TransportFactory> make_tcp_transport(TcpOptions options) {
  return std::make_unique<TcpFactory>(std::move(options));
}

}  // namespace strata
