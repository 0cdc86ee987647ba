// The shared memory transport: the stream protocol over rings in memory files.

#include "ccl/transport/factories.hpp"
#include "ccl/transport/shm/shm_descriptor.hpp"
#include "ccl/transport/shm/shm_pipes.hpp"

namespace strata {
namespace {

class ShmFactory final : public TransportFactory {
 public:
  explicit ShmFactory(ShmOptions options) : pipes_(options) {}
  std::string_view name() const override { return "shm"; }
  Expected<std::string> descriptor() override { return pipes_.descriptor(); }
  bool reaches(std::string_view mine, std::string_view theirs) const override {
    const auto a = shm::parse_shm_descriptor(mine), b = shm::parse_shm_descriptor(theirs);
    return a && b && a->host_id == b->host_id && a->user == b->user;
  }
  std::string why_unreachable(std::string_view mine, std::string_view theirs) const override {
    const auto a = shm::parse_shm_descriptor(mine), b = shm::parse_shm_descriptor(theirs);
    if (!a || !b) return std::string((a ? b : a).status().message());
    return a->host_id == b->host_id ? "they run as different users of one host: run all ranks as the same"
                                    : "they are on different hosts or in different network namespaces";
  }
  Expected<std::unique_ptr<Transport>> connect(Exchange& exchange, std::span<const std::string> descriptors,
                                               std::span<const Rank> peers, Listener& listener) override {
    Expected<std::unique_ptr<PipeSet>> pipes = pipes_.connect(exchange, descriptors, peers);
    if (!pipes) return pipes.status();
    return make_stream_transport(std::move(*pipes), listener);
  }

 private:
  shm::ShmPipes pipes_;
};

}  // namespace

std::unique_ptr<TransportFactory> make_shm_transport(ShmOptions options) {
  return std::make_unique<ShmFactory>(options);
}

}  // namespace strata
