// SPDX-License-Identifier: Apache-2.0
// A process that hangs may hold the lock of its allocator: so nothing here allocates, but for what libc does for a new
// thread.
#include "core/monitor/inspection.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/monitor/layout.h"
#include "core/sched/polling.h"
#include "platform/service_thread.h"

namespace weft::core {

namespace {

constexpr size_t kAnsweringStack = 256 * 1024;
constexpr timeval kPatience{10, 0};
constexpr int kMostDescriptors = 65536;  // before Linux 5.9

constexpr int kMostServed = 8;

// Whoever has a core file looks for its first bytes.
InspectionStart g_inspected;

std::atomic<int> g_served{0};  // inspectors; relaxed: a number alone

// Whether the process may do more than its user: then it tells nobody but root. The kernel says the same to those who
// would trace it.
bool has_capabilities() noexcept {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
  if (syscall(SYS_capget, &header, data) != 0) return true;
  return (data[0].permitted | data[1].permitted) != 0;
}

// A process that may not be dumped, such as one that has other rights than its user, tells nobody.
bool may_be_read() noexcept { return prctl(PR_GET_DUMPABLE) == 1; }

// For a table of the thread's own, which is empty: the program may close all descriptors, or count on the next number.
bool leave_descriptors() noexcept {
  // Of Linux 5.9, and the same on all machines; not in the headers of older systems.
  constexpr long kCloseRange = 436;
  constexpr unsigned kUnshare = 2;
  if (syscall(kCloseRange, 0U, ~0U, kUnshare) == 0) return true;
  if (unshare(CLONE_FILES) != 0) return false;
  rlimit most{};
  getrlimit(RLIMIT_NOFILE, &most);
  for (int number = 0; number < static_cast<int>(most.rlim_cur) && number < kMostDescriptors; ++number) close(number);
  return true;
}

// Names of files that an inspector may read.
bool is_known(const char* file) noexcept {
  constexpr char kFolder[] = "task/";
  if (strncmp(file, kFolder, sizeof kFolder - 1) != 0) return false;
  const char* number = file + sizeof kFolder - 1;
  const size_t digits = strspn(number, "0123456789");
  const char* rest = number + digits;
  return digits > 0 && (strcmp(rest, "/comm") == 0 || strcmp(rest, "/syscall") == 0);
}

class Connection {
 public:
  Connection() noexcept : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  ~Connection() {
    if (socket_ >= 0) close(socket_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Whether the process that listens is the one that has called, and may read this one.
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
    return getsockopt(socket_, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) == 0 && peer.pid == inspector &&
           (peer.uid == 0 || (peer.uid == geteuid() && !has_capabilities()));
  }

  bool send_all(const void* data, size_t size) const noexcept {
    const char* at = static_cast<const char*>(data);
    while (size > 0) {
      const ssize_t sent = send(socket_, at, size, MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) return false;
      at += sent;
      size -= static_cast<size_t>(sent);
    }
    return true;
  }

  bool receive_all(void* data, size_t size) const noexcept {
    char* at = static_cast<char*>(data);
    while (size > 0) {
      const ssize_t got = recv(socket_, at, size, 0);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      at += got;
      size -= static_cast<size_t>(got);
    }
    return true;
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
  if (!connection.send_all(&g_inspected, sizeof g_inspected)) return;
  InspectionRequest request;
  char data[kMostInspected];
  while (connection.receive_all(&request, sizeof request)) {
    const size_t size = request.size < kMostInspected ? request.size : kMostInspected;
    request.file.back() = '\0';
    // The program may have changed what it is meanwhile.
    if (!may_be_read()) return;
    InspectionAnswer answer{-EACCES};
    const char* file = request.file[0] == '\0' ? "mem" : request.file.data();
    if (request.file[0] == '\0' || is_known(file)) answer.size = read_file(file, request.address, data, size);
    if (!connection.send_all(&answer, sizeof answer)) return;
    if (answer.size > 0 && !connection.send_all(data, static_cast<size_t>(answer.size))) return;
  }
}

void* serve_main(void* inspector) {
  platform::name_service_thread(kInspectedName);
  if (leave_descriptors()) {
    const Connection connection;
    if (connection.open(static_cast<pid_t>(reinterpret_cast<intptr_t>(inspector)))) serve(connection);
  }
  g_served.fetch_sub(1, std::memory_order_relaxed);
  return nullptr;
}

}  // namespace

void let_be_inspected() noexcept {
  const Pool& p = pool();
  const InspectionSettings& settings = p.settings.inspection;
  g_inspected.layout = kCoreLayout ^ settings.layout;
  g_inspected.code = reinterpret_cast<uintptr_t>(&answer_inspector);
  g_inspected.pool = reinterpret_cast<uintptr_t>(&p);
  g_inspected.parked = reinterpret_cast<uintptr_t>(&parking::g_lists);
  g_inspected.members = settings.members;
  g_inspected.wanted = reinterpret_cast<uintptr_t>(&detail::g_wanted);
  g_inspected.pending = reinterpret_cast<uintptr_t>(&detail::pending_word());
  g_inspected.process = getpid();
}

void answer_inspector(pid_t inspector) noexcept {
  if (!pool().settings.inspection.allowed || !may_be_read()) return;
  if (g_served.fetch_add(1, std::memory_order_relaxed) < kMostServed &&
      platform::start_service_thread(serve_main, reinterpret_cast<void*>(intptr_t{inspector}), kAnsweringStack))
    return;
  g_served.fetch_sub(1, std::memory_order_relaxed);
}

void forget_inspectors() noexcept { g_served.store(0, std::memory_order_relaxed); }

}  // namespace weft::core
