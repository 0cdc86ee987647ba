// Where rank 0 lets ranks in: accepts connections and makes each prove that it belongs to the job.
#pragma once
#include <asio.hpp>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "ccl/bootstrap/rendezvous_connection.hpp"
#include "ccl/bootstrap/rendezvous_drive.hpp"
#include "ccl/bootstrap/rendezvous_introduction.hpp"
#include "ccl/bootstrap/rendezvous_listener.hpp"
#include "ccl/bootstrap/rendezvous_secret.hpp"
#include "ccl/bootstrap/rendezvous_settings.hpp"

namespace strata::rendezvous {

// Strangers can neither fail the job, nor fill the log, nor keep a connection for long.
class Door final {
 public:
  // Takes over a connection that has proven itself, or says why it is refused all the same.
  using Admit = std::function<Status(const std::shared_ptr<Connection>&, const Introduction&)>;

  Door(asio::io_context& context, const Settings& settings, ListeningSocket socket, Admit admit);
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  void open();
  void close();          // nobody comes in any more; the address is free again
  bool drained() const;  // everybody who was refused has been told so
  const std::string& where() const { return where_; }
  bool loopback() const { return loopback_; }

 private:
  using Acceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol>;

  asio::awaitable<void> accept_all();
  asio::awaitable<void> serve(std::shared_ptr<Connection> connection);
  asio::awaitable<Expected<Introduction>> authenticate(const std::shared_ptr<Connection>& connection);
  void remember(const std::shared_ptr<Connection>& stranger);
  void forget(const std::shared_ptr<Connection>& stranger);
  void log_refusal(const Connection& connection, const Status& why);

  asio::io_context& context_;
  const Settings& settings_;
  const Admit admit_;
  const std::string where_;
  const bool loopback_;
  BoundPath path_;
  Acceptor acceptor_;
  std::list<std::weak_ptr<Connection>> strangers_;  // oldest first
  std::uint32_t refusals_ = 0;
};

}  // namespace strata::rendezvous
