// One connection of the rendezvous: whole messages out, in order, and in, one at a time.
#pragma once
#include <asio.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "ccl/bootstrap/rendezvous_messages.hpp"
#include "ccl/bootstrap/rendezvous_resolve.hpp"
#include "strata/status.hpp"

namespace strata::rendezvous {

using Socket = asio::generic::stream_protocol::socket;
using Frame = std::shared_ptr<const std::string>;  // shared, because one goes to many

// Owned by the thread that runs its io_context. Handlers in flight keep it alive.
class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Socket socket, std::string peer);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  const std::string& peer() const { return peer_; }  // an address, for people

  // Before anything else, if the socket is not connected yet. Error: unavailable with the system's reason.
  asio::awaitable<Status> connect(const SocketAddress& address);
  // Error: peer_lost with the system's reason or that of close(); mismatch for what is no message.
  asio::awaitable<Expected<Message>> receive(std::uint32_t bytes_max);
  void send(const Message& message) { send(std::make_shared<const std::string>(encode(message))); }
  void send(Frame frame);
  bool drained() const { return queue_.empty(); }

  void close(Status why);                                        // at once
  void close_after(std::chrono::milliseconds time, Status why);  // replaces an earlier one
  void keep_open() { limit_.cancel(); }                          // ends close_after
  // Sends what is queued, says that no more will come, and waits for the other to close, but not for long. So
  // a last message is not lost to a reset.
  void finish();

 private:
  void write_next();
  void shut_down_when_drained();
  asio::awaitable<Status> read_exactly(char* into, std::size_t bytes);

  void set_options();

  Socket socket_;
  std::string peer_;
  asio::steady_timer limit_;
  std::deque<Frame> queue_;
  Status closed_;
  bool finishing_ = false;
};

// "10.0.0.5:4242", or of a socket in the file system "a process with pid 7 of user 1000".
std::string describe_peer(const Socket& socket);

}  // namespace strata::rendezvous
