// One connection as a pipe: non-blocking sends and receives at the socket, with a buffer for what is small.
#pragma once
#include <memory>
#include <string>

#include "ccl/transport/pipe.hpp"
#include "ccl/transport/tcp/in_flight.hpp"
#include "ccl/transport/tcp/meeting.hpp"

namespace strata::tcp {

class TcpPipe final : public Pipe {
 public:
  // pins: of connections between hosts.
  TcpPipe(Connection connection, const CreditPins& pins);
  ~TcpPipe() override;
  TcpPipe(const TcpPipe&) = delete;
  TcpPipe& operator=(const TcpPipe&) = delete;

  std::size_t write(std::span<const iovec> parts) override;
  std::span<const std::byte> peek() override;
  void consume(std::size_t bytes) override;
  // Takes a little of what has arrived, if anything has, into the empty buffer: as cheap as asking whether it
  // has.
  void look_again() override;
  std::size_t read(std::span<std::byte> into) override;
  Status status() const override { return status_; }
  void close() override;
  // The loopback carries a large piece in the time that a network needs for a small one.
  std::size_t fragment_bytes() const override {
    return in_flight_.limited() ? in_flight_.credit().fragment_bytes() : 1 << 20;
  }

  Rank peer() const { return connection_.peer; }
  int socket() const { return connection_.socket.get(); }

  // The last write was short, and the socket has not been found writable since.
  bool starved() const { return starved_; }
  void writable();
  // Bytes in the buffer, perhaps more in the socket; or writable again, or broken, and not reported yet.
  bool has_news() const { return begin_ != end_ || !drained_ || unreported_; }
  void reported() { unreported_ = false; }
  void readable();

 private:
  ssize_t send(std::span<const iovec> parts, std::size_t bytes);
  std::size_t receive(std::span<std::byte> into, std::size_t buffer_bytes);
  void fill();
  void fail(std::string_view call);
  void end(std::string_view reason);

  Connection connection_;
  InFlight in_flight_;
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  std::size_t fill_bytes_;  // how much the buffer takes the next time
  bool drained_ = false;    // the socket had nothing more when last asked; it is asked again when it has news
  bool ended_ = false;      // nothing will come any more
  bool starved_ = false;
  bool unreported_ = false;
  Status status_;
};

}  // namespace strata::tcp
