#include "ccl/bootstrap/bootstrap.hpp"

#include "ccl/base/check.hpp"
#include "ccl/bootstrap/rendezvous_secret.hpp"
#include "ccl/bootstrap/rendezvous_settings.hpp"

namespace strata {
namespace {

// A job of one rank: nobody to meet.
class Alone final : public Exchange {
 public:
  Alone(std::string key, std::uint32_t timeout_ms)
      : key_(std::move(key)),
        deadline_(std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms)) {}
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::string_view session_key() const override { return key_; }
  std::uint32_t milliseconds_left() const override {
    const auto left = deadline_ - std::chrono::steady_clock::now();
    const auto count = std::chrono::duration_cast<std::chrono::milliseconds>(left).count();
    return count > 0 ? static_cast<std::uint32_t>(count) : 0;
  }
  Expected<std::vector<std::string>> all_gather(std::string_view mine) override {
    return std::vector{std::string(mine)};
  }

 private:
  const std::string key_;
  const std::chrono::steady_clock::time_point deadline_;
};

Expected<std::unique_ptr<Exchange>> join_alone(const CommunicatorOptions& options) {
  const auto session = rendezvous::make_nonce();
  if (!session) return session.status();
  return std::unique_ptr<Exchange>(std::make_unique<Alone>(rendezvous::session_key(options.secret, *session),
                                                           options.rendezvous_timeout_ms));
}

}  // namespace

rendezvous::Settings rendezvous::settings_from(const CommunicatorOptions& options) {
  const auto address = parse_rendezvous(options.rendezvous);
  STRATA_CHECK(address.ok(), options.rendezvous);
  return {.address = *address,
          .address_text = options.rendezvous,
          .secret = options.secret,
          .me = introduce(options.rank, options.size, options.rendezvous_timeout_ms)};
}

Expected<std::unique_ptr<Exchange>> join(const CommunicatorOptions& options) {
  STRATA_CHECK(options.rank >= 0 && options.rank < options.size, options.rank, options.size);
  if (options.size == 1) return join_alone(options);
  const rendezvous::Settings settings = rendezvous::settings_from(options);
  return options.rank == 0 ? rendezvous::join_as_server(settings) : rendezvous::join_as_client(settings);
}

}  // namespace strata
