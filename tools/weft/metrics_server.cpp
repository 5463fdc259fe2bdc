// SPDX-License-Identifier: Apache-2.0
// One thread does everything that does not have to wait, for whichever connection it comes.
#include "metrics_server.h"

#include <chrono>
#include <cstdio>
#include <deque>
#include <memory>
#include <string_view>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "base/message.h"
#include "ending_signals.h"

namespace weft::tools {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using beast::error_code;
using MakeText = std::function<std::string(openmetrics::Format)>;

constexpr int kFailed = 1;
// How long a client may take to ask, and then to read the answer.
constexpr auto kPatience = std::chrono::seconds(10);
// How long what it sends behind its request is thrown away: closed before that, the connection would be reset, and the
// client might lose the answer.
constexpr auto kLinger = std::chrono::seconds(2);
// Connections at a time; the oldest goes when there are more. Few enough for the usual bound of open files.
constexpr size_t kMost = 200;
// Between two tries when no connection can be accepted.
constexpr auto kPause = std::chrono::milliseconds(100);

// One request and its answer.
class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(tcp::socket socket, const MakeText& text) : stream_(std::move(socket)), text_(text) {
    request_.body_limit(UINT64_MAX);  // no body is read, so that each may come; Boost 1.74 refuses all without a limit
  }

  void start() {
    stream_.expires_after(kPatience);
    http::async_read_header(stream_, buffer_, request_, [self = shared_from_this()](error_code error, size_t) {
      if (!error) {
        self->answer();
      } else if (error == http::error::header_limit || error == http::error::buffer_overflow) {
        self->refuse(http::status::request_header_fields_too_large, "the request is too long\n");
      } else if (error != http::error::end_of_stream && error != http::error::partial_message &&
                 error.category() == http::make_error_code(http::error::bad_method).category()) {
        self->refuse(http::status::bad_request, "this is no request of HTTP: " + error.message() + '\n');
      }
    });
  }

  void stop() { stream_.close(); }

 private:
  void answer() {
    const auto& request = request_.get();
    response_.version(request.version());
    const std::string_view target(request.target().data(), request.target().size());
    if (target.substr(0, target.find('?')) != "/metrics") {
      refuse(http::status::not_found, "the metrics are at /metrics\n");
    } else if (request.method() != http::verb::get && request.method() != http::verb::head) {
      response_.set(http::field::allow, "GET, HEAD");
      refuse(http::status::method_not_allowed, "the metrics can only be read: GET or HEAD\n");
    } else {
      const auto accept = request[http::field::accept];
      const openmetrics::Format format = openmetrics::accepted_format({accept.data(), accept.size()});
      response_.set(http::field::vary, "Accept");
      send(http::status::ok, openmetrics::content_type(format), text_(format));
    }
  }

  void refuse(http::status status, const std::string& why) { send(status, "text/plain; charset=utf-8", why); }

  void send(http::status status, const char* type, std::string text) {
    response_.result(status);
    response_.set(http::field::content_type, type);
    response_.keep_alive(false);
    response_.body() = std::move(text);
    response_.prepare_payload();
    stream_.expires_after(kPatience);
    const auto sent = [self = shared_from_this()](error_code error, size_t) {
      if (!error) self->finish();
    };
    // To HEAD the answer is that to GET, without the body.
    if (request_.get().method() == http::verb::head) {
      http::async_write_header(stream_, serializer_, sent);
    } else {
      http::async_write(stream_, serializer_, sent);
    }
  }

  void finish() {
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.expires_after(kLinger);
    drain();
  }

  void drain() {
    stream_.async_read_some(asio::buffer(rest_), [self = shared_from_this()](error_code error, size_t) {
      if (!error) self->drain();
    });
  }

  beast::tcp_stream stream_;
  const MakeText& text_;
  beast::flat_buffer buffer_;
  http::request_parser<http::empty_body> request_;
  http::response<http::string_body> response_;
  http::response_serializer<http::string_body> serializer_{response_};
  char rest_[4096] = {};
};

class Server {
 public:
  Server(asio::io_context& context, const MakeText& text)
      : acceptor_(context), socket_(context), pause_(context), text_(text) {}

  error_code open(const tcp::endpoint& address) {
    error_code error;
    acceptor_.open(address.protocol(), error);
    // A port whose last user has just ended can be used.
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(address, error);
    if (!error) acceptor_.listen(tcp::acceptor::max_listen_connections, error);
    return error;
  }

  void accept() {
    acceptor_.async_accept(socket_, [this](error_code error) {
      if (error) {
        // No more files can be open, say: without a pause it would be tried all the time.
        pause_.expires_after(kPause);
        pause_.async_wait([this](error_code) { accept(); });
        return;
      }
      std::erase_if(exchanges_, [](const auto& exchange) { return exchange.expired(); });
      if (exchanges_.size() >= kMost) {
        if (const auto oldest = exchanges_.front().lock()) oldest->stop();
        exchanges_.pop_front();
      }
      const auto exchange = std::make_shared<Exchange>(std::move(socket_), text_);
      exchanges_.push_back(exchange);
      exchange->start();
      accept();
    });
  }

 private:
  tcp::acceptor acceptor_;
  tcp::socket socket_;
  asio::steady_timer pause_;
  const MakeText& text_;
  std::deque<std::weak_ptr<Exchange>> exchanges_;  // the oldest first; some may have ended
};

}  // namespace

int serve_metrics(uint16_t port, const MakeText& text) {
  asio::io_context context(1);
  asio::signal_set signals(context);
  for (const int signal : ending_signals()) signals.add(signal);
  signals.async_wait([&](error_code error, int) {
    if (!error) context.stop();
  });
  Server server(context, text);
  if (const error_code error = server.open({asio::ip::address_v4::loopback(), port})) {
    const bool busy = error == asio::error::address_in_use;
    base::warn("top: port %d: %s%s", port, error.message().c_str(),
               busy ? "; name another one by --openmetrics :PORT" : "");
    return kFailed;
  }
  server.accept();
  std::printf("http://127.0.0.1:%d/metrics has the metrics until SIGTERM or Ctrl-C\n", port);
  std::fflush(stdout);
  context.run();
  return 0;
}

}  // namespace weft::tools
