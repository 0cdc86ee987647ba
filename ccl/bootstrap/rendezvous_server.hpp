// Rank 0's side of the rendezvous: waits for all ranks, and gathers what they exchange.
#pragma once
#include <asio.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ccl/bootstrap/rendezvous_connection.hpp"
#include "ccl/bootstrap/rendezvous_door.hpp"
#include "ccl/bootstrap/rendezvous_drive.hpp"
#include "ccl/bootstrap/rendezvous_roll.hpp"
#include "ccl/bootstrap/rendezvous_settings.hpp"

namespace strata::rendezvous {

// Owned by one thread; everything happens inside join() and all_gather(), which drive the io_context.
class Server final : public Exchange {
 public:
  Server(const Settings& settings, ListeningSocket socket);
  Status join();

  int rank() const override { return 0; }
  int size() const override { return roll_.size(); }
  std::string_view session_key() const override { return key_; }
  std::uint32_t milliseconds_left() const override;
  Expected<std::vector<std::string>> all_gather(std::string_view mine) override;

 private:
  struct Member {
    std::shared_ptr<Connection> connection;  // rank 0 has none
    std::optional<std::string> contribution;
    Status lost;
  };

  Status admit(const std::shared_ptr<Connection>& connection, const Introduction& who);
  asio::awaitable<void> attend(int rank);
  void lose(int rank, const Status& why);
  void start();
  void gather_if_complete();
  void fail(Status why);
  void broadcast(const std::string& frame);
  void drive();
  void flush();
  std::string waiting_for() const;
  void report();

  const Settings settings_;
  // Destroyed after all below, and with it the handlers that never ran: they hold connections only.
  asio::io_context context_{1};
  const asio::executor_work_guard<asio::io_context::executor_type> guard_{context_.get_executor()};
  Door door_;
  Roll roll_;
  std::vector<Member> members_;
  Clock::time_point begin_, deadline_;
  std::string key_;
  std::vector<std::string> gathered_;
  Status failure_;
  bool started_ = false;
  bool gathering_ = false;
  bool done_ = false;  // with what join() or all_gather() waits for
};

}  // namespace strata::rendezvous
