// The rendezvous as any rank but 0 sees it: finds rank 0, proves itself, waits, and exchanges through it.
#pragma once
#include <asio.hpp>
#include <memory>
#include <string>
#include <vector>

#include "ccl/bootstrap/rendezvous_connection.hpp"
#include "ccl/bootstrap/rendezvous_drive.hpp"
#include "ccl/bootstrap/rendezvous_secret.hpp"
#include "ccl/bootstrap/rendezvous_settings.hpp"

namespace strata::rendezvous {

// Owned by one thread; everything happens inside join() and all_gather(), which drive the io_context.
class Client final : public Exchange {
 public:
  explicit Client(const Settings& settings);
  Status join();

  int rank() const override { return settings_.me.rank; }
  int size() const override { return settings_.me.size; }
  std::string_view session_key() const override { return key_; }
  std::uint32_t milliseconds_left() const override { return rendezvous::milliseconds_left(deadline_); }
  Expected<std::vector<std::string>> all_gather(std::string_view mine) override;

 private:
  asio::awaitable<Status> come();
  asio::awaitable<Status> reach();
  asio::awaitable<Status> greet();
  asio::awaitable<Status> wait_for_start();
  asio::awaitable<Status> gather(std::string mine);
  asio::awaitable<Expected<Message>> hear();
  Status check_welcome(const Message& message, const Nonces& nonces);
  Status drive(asio::awaitable<Status> work);
  Clock::time_point give_up_at() const;
  Status late() const;
  std::string loopback_hint() const;
  void report() const;

  const Settings settings_;
  asio::io_context context_{1};
  std::shared_ptr<Connection> connection_;
  Introduction server_;
  Clock::time_point begin_, deadline_;
  Status last_error_;        // of the attempts to reach rank 0
  std::string last_report_;  // of rank 0
  std::string key_;
  std::vector<std::string> gathered_;
  Status result_;
  bool welcome_ = false;
  bool all_loopback_ = false;  // of rank 0's addresses
  bool done_ = false;
};

}  // namespace strata::rendezvous
