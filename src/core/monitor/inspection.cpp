// SPDX-License-Identifier: Apache-2.0
// A process that hangs may hold the lock of its allocator: so nothing here allocates.
#include "core/monitor/inspection.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/monitor/layout.h"
#include "platform/service_thread.h"

namespace weft::core {

namespace {

constexpr size_t kStackSize = 256 * 1024;
constexpr timeval kPatience{10, 0};

std::atomic<bool> g_serves{false};
pid_t g_inspector = 0;  // of the one that is served

class Connection {
 public:
  Connection() noexcept : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  ~Connection() {
    if (socket_ >= 0) close(socket_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Whether the process that listens is of the same user, or root's.
  bool open(pid_t inspector) const noexcept {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "%s%d", kInspectorName, inspector);
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<size_t>(length));
    if (socket_ < 0) return false;
    setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
    if (connect(socket_, reinterpret_cast<const sockaddr*>(&address), size) != 0) return false;
    ucred peer{};
    socklen_t peer_size = sizeof peer;
    return getsockopt(socket_, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) == 0 &&
           (peer.uid == geteuid() || peer.uid == 0);
  }

  bool send_all(const void* data, size_t size) const noexcept {
    const char* at = static_cast<const char*>(data);
    while (size > 0) {
      const ssize_t sent = send(socket_, at, size, MSG_NOSIGNAL);
      if (sent <= 0) return false;
      at += sent;
      size -= static_cast<size_t>(sent);
    }
    return true;
  }

  bool receive_all(void* data, size_t size) const noexcept {
    return recv(socket_, data, size, MSG_WAITALL) == static_cast<ssize_t>(size);
  }

 private:
  const int socket_;
};

// As much as there is from `offset` on, up to `size`; negative: an errno.
int64_t read_file(const char* name, uint64_t offset, char* data, size_t size) noexcept {
  char path[80];
  snprintf(path, sizeof path, "/proc/self/%s", name);
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -errno;
  size_t got = 0;
  ssize_t piece = 0;
  while (got < size && (piece = pread(file, data + got, size - got, static_cast<off_t>(offset + got))) > 0) {
    got += static_cast<size_t>(piece);
  }
  const int64_t result = piece < 0 && got == 0 ? -errno : static_cast<int64_t>(got);
  close(file);
  return result;
}

void serve(const Connection& connection) noexcept {
  const Pool& p = pool();
  const InspectionSettings& settings = p.settings.inspection;
  Inspected inspected;
  inspected.layout = kCoreLayout ^ settings.layout;
  inspected.code = reinterpret_cast<uintptr_t>(&answer_inspector);
  inspected.pool = reinterpret_cast<uintptr_t>(&p);
  inspected.parked = reinterpret_cast<uintptr_t>(&parking::g_lists);
  inspected.members = settings.members;
  if (!connection.send_all(&inspected, sizeof inspected)) return;
  InspectionRequest request;
  static char data[kMostInspected];
  while (connection.receive_all(&request, sizeof request)) {
    const size_t size = request.size < kMostInspected ? request.size : kMostInspected;
    request.file.back() = '\0';
    // What it may read is its own memory, and what is said there of its threads.
    const bool is_known = strstr(request.file.data(), "..") == nullptr;
    InspectionAnswer answer{-EACCES};
    if (is_known) {
      answer.size = read_file(request.file[0] == '\0' ? "mem" : request.file.data(), request.address, data, size);
    }
    if (!connection.send_all(&answer, sizeof answer)) return;
    if (answer.size > 0 && !connection.send_all(data, static_cast<size_t>(answer.size))) return;
  }
}

void* serve_main(void* /*unused*/) {
  platform::name_service_thread(kInspectedName);
  {
    const Connection connection;
    if (connection.open(g_inspector)) serve(connection);
  }
  // Release: the next inspector's thread has the data to itself.
  g_serves.store(false, std::memory_order_release);
  return nullptr;
}

}  // namespace

void answer_inspector(pid_t inspector) noexcept {
  // A process that may not be dumped, such as one that has other rights than its user, tells nobody.
  if (!pool().settings.inspection.allowed || prctl(PR_GET_DUMPABLE) != 1) return;
  // Acquire pairs with the release above.
  if (g_serves.exchange(true, std::memory_order_acquire)) return;
  g_inspector = inspector;
  if (!platform::start_service_thread(serve_main, nullptr, kStackSize)) {
    g_serves.store(false, std::memory_order_release);
  }
}

}  // namespace weft::core
