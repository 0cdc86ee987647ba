#include "ccl/runtime/metrics_server.hpp"

#include <fmt/format.h>
#include <httplib.h>
#include <signal.h>

#include <charconv>
#include <thread>

namespace strata {
namespace {

constexpr const char* kContentType = "text/plain; version=0.0.4; charset=utf-8";
constexpr time_t kPatienceS = 5;

// httplib's constructor has the whole process ignore SIGPIPE, which is the program's to decide.
class KeepSigpipe final {
 public:
  KeepSigpipe() { ::sigaction(SIGPIPE, nullptr, &before_); }
  KeepSigpipe(const KeepSigpipe&) = delete;
  KeepSigpipe& operator=(const KeepSigpipe&) = delete;
  ~KeepSigpipe() { ::sigaction(SIGPIPE, &before_, nullptr); }

 private:
  struct sigaction before_ {};
};

// Threads that are started meanwhile get no signals: handlers are the program's, and so are their stacks.
class NoSignals final {
 public:
  NoSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;
  ~NoSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

std::unique_ptr<httplib::Server> make_server() {
  const KeepSigpipe keep;
  return std::make_unique<httplib::Server>();
}

class HttpServer final : public MetricsServer {
 public:
  HttpServer(const MetricsAddress& address, std::function<std::string()> text) : host_(address.host) {
    server_->new_task_queue = [] { return new httplib::ThreadPool(1); };
    server_->set_keep_alive_timeout(kPatienceS);
    server_->set_read_timeout(kPatienceS);
    // httplib's own would let another process have the same port.
    server_->set_socket_options([](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    server_->Get("/metrics", [text = std::move(text)](const httplib::Request&, httplib::Response& response) {
      response.set_content(text(), kContentType);
    });
    if (address.port == 0)
      port_ = server_->bind_to_any_port(host_);
    else
      port_ = server_->bind_to_port(host_, address.port) ? address.port : -1;
    if (port_ <= 0) return;
    const NoSignals none;
    thread_ = std::thread([this] { server_->listen_after_bind(); });
    while (!server_->is_running()) std::this_thread::yield();  // before that, it would not hear stop()
  }
  ~HttpServer() override {
    server_->stop();
    if (thread_.joinable()) thread_.join();
  }
  bool bound() const { return port_ > 0; }
  std::string where() const override {
    const bool v6 = host_.find(':') != std::string::npos;
    return fmt::format("http://{}{}{}:{}/metrics", v6 ? "[" : "", host_, v6 ? "]" : "", port_);
  }

 private:
  const std::string host_;
  const std::unique_ptr<httplib::Server> server_ = make_server();
  int port_ = -1;
  std::thread thread_;
};

}  // namespace

Expected<MetricsAddress> parse_metrics_address(std::string_view text) {
  const Status wrong(
      ErrorCode::invalid_argument,
      fmt::format("metrics is \"{}\"; it must be a port, host:port or [IPv6 address]:port, with a port "
                  "from 0 (any) to 65535",
                  text));
  MetricsAddress address;
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos) {
    std::string_view host = text.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']'))
      host = host.substr(1, host.size() - 2);
    else if (host.find(':') != std::string_view::npos)
      return wrong;
    if (host.empty()) return wrong;
    address.host = host;
    text.remove_prefix(colon + 1);
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), address.port);
  if (error != std::errc{} || end != text.data() + text.size()) return wrong;
  return address;
}

Expected<std::unique_ptr<MetricsServer>> serve_metrics(const MetricsAddress& address,
                                                       std::function<std::string()> text) {
  auto server = std::make_unique<HttpServer>(address, std::move(text));
  if (!server->bound())
    return Status(
        ErrorCode::unavailable,
        fmt::format("metrics: nobody can listen on port {} of {}; is it in use, or not this host's?",
                    address.port, address.host));
  return std::unique_ptr<MetricsServer>(std::move(server));
}

}  // namespace strata
