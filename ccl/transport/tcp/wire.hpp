// Records over an Asio socket, for the handshake: whole or not at all.
#pragma once
#include <asio/awaitable.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <chrono>
#include <memory>
#include <span>

namespace strata::tcp {

using Socket = asio::ip::tcp::socket;
using SharedSocket = std::shared_ptr<Socket>;

// Ends what is going on at the socket when the time is up; its operations then fail with operation_aborted.
class TimeLimit final {
 public:
  TimeLimit(SharedSocket socket, std::chrono::milliseconds limit) : timer_(socket->get_executor(), limit) {
    timer_.async_wait([socket](std::error_code error) {
      std::error_code ignored;
      if (!error) socket->close(ignored);
    });
  }

 private:
  asio::steady_timer timer_;  // destroying it cancels the wait
};

inline asio::awaitable<std::error_code> read_bytes(Socket& socket, std::span<std::byte> bytes) {
  std::error_code error;
  co_await asio::async_read(socket, asio::buffer(bytes.data(), bytes.size()),
                            asio::redirect_error(asio::use_awaitable, error));
  co_return error;
}

template <class Record>
asio::awaitable<std::error_code> read_record(Socket& socket, Record& record) {
  return read_bytes(socket, std::as_writable_bytes(std::span(&record, 1)));
}

template <class Record>
asio::awaitable<std::error_code> write_record(Socket& socket, const Record& record) {
  std::error_code error;
  co_await asio::async_write(socket, asio::buffer(&record, sizeof record),
                             asio::redirect_error(asio::use_awaitable, error));
  co_return error;
}

}  // namespace strata::tcp
