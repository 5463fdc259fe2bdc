// SPDX-License-Identifier: Apache-2.0
#include "threads/running_process.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/options.h"
#include "platform/service_call.h"
#include "proc_file.h"
#include "threads/proc_threads.h"

namespace weft::tools {

namespace {

// How long a process has to answer. Its monitor may be late where the machine is very busy.
constexpr int kAnswerMs = 5000;
// A call is lost where the process has just taken that of another inspector: so it is called again and again.
constexpr int kCallMs = 500;

std::string first_line(const std::string& file) {
  std::string line;
  std::ifstream stream(file);
  std::getline(stream, line);
  return line;
}

// A thread takes calls if it has all signals blocked; while it waits for a call, all but that one. Others would be
// ended by it.
bool blocks_calls(const std::string& status_file) {
  std::ifstream stream(status_file);
  // But for those of faults, which the monitor may want itself.
  constexpr auto bit = [](int number) { return uint64_t{1} << (number - 1); };
  constexpr uint64_t kOthers = bit(SIGHUP) | bit(SIGINT) | bit(SIGQUIT) | bit(SIGUSR1) | bit(SIGUSR2) | bit(SIGPIPE);
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with("SigBlk:")) continue;
    return (std::stoull(line.substr(7), nullptr, 16) & kOthers) == kOthers;
  }
  return false;
}

// The thread of the process's monitor; 0: it has none.
pid_t find_monitor(pid_t process) {
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator(in_proc(process, "task"), error)) {
    if (first_line(task.path() / "comm") == core::kMonitorName && blocks_calls(task.path() / "status"))
      return std::stoi(task.path().filename());
  }
  return 0;
}

int listen_as_inspector() {
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0) return -1;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const int length =
      std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "%s%d", core::kInspectorName, getpid());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<size_t>(length));
  if (bind(listener, reinterpret_cast<const sockaddr*>(&address), size) == 0 && listen(listener, 1) == 0)
    return listener;
  close(listener);
  return -1;
}

// The connection of the process; -1: none has come.
int await_process(int listener, pid_t process) {
  pollfd waits{listener, POLLIN, 0};
  while (poll(&waits, 1, kCallMs) > 0) {
    const int found = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (found < 0) return -1;
    ucred peer{};
    socklen_t size = sizeof peer;
    if (getsockopt(found, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid == process) return found;
    close(found);
  }
  return -1;
}

constexpr char kOtherUser[] = "it belongs to another user: ask as that user, or as root";

std::string why_no_monitor(pid_t process) {
  std::string text;
  if (!read_proc_file(process, "stat", text)) return "there is no such process";
  const size_t end = text.rfind(") ");
  if (end != std::string::npos && text[end + 2] == 'Z')
    return "it has ended, and whoever has started it has not noticed";
  if (!read_proc_file(process, "maps", text)) return kOtherUser;
  return text.empty() ? "it is a thread of the kernel" : "it has no thread that could answer";
}

// The letter behind the name, which may have brackets itself.
bool is_stopped(pid_t process) {
  const std::string stat = first_line(in_proc(process, "stat"));
  const size_t end = stat.rfind(") ");
  return end != std::string::npos && (stat[end + 2] == 'T' || stat[end + 2] == 't');
}

bool forbids(pid_t process) {
  std::ifstream variables(in_proc(process, "environ"), std::ios::binary);
  for (std::string entry; std::getline(variables, entry, '\0');) {
    const std::string variable = "WEFT_INSPECT=";
    if (!entry.starts_with(variable)) continue;
    const char* const only[] = {entry.c_str(), nullptr};
    return !base::parse(only).inspect;
  }
  return false;
}

// Why it will not answer, as far as it can be seen beforehand; empty: nothing is seen.
std::string why_no_answer(pid_t process) {
  if (std::string stopped = RunningProcess::why_stopped(process); !stopped.empty()) return stopped;
  if (forbids(process)) return "it was started with WEFT_INSPECT=false";
  return {};
}

std::string why_not_called(int error) {
  if (error == ESRCH) return "it has ended";
  return error == EPERM ? kOtherUser : std::string("it cannot be called: ") + std::strerror(error);
}

}  // namespace

bool RunningProcess::can_be_asked(pid_t process) { return find_monitor(process) != 0; }

std::string RunningProcess::why_stopped(pid_t process) {
  return is_stopped(process) ? "it is stopped: kill -CONT " + std::to_string(process) + ", and ask again" : "";
}

std::unique_ptr<RunningProcess> RunningProcess::connect(pid_t process, std::string* fault) {
  const pid_t monitor = find_monitor(process);
  *fault = monitor == 0 ? why_no_monitor(process) : why_no_answer(process);
  if (!fault->empty()) return nullptr;
  const int listener = listen_as_inspector();
  if (listener < 0) {
    *fault = std::string("no socket to listen on: ") + std::strerror(errno);
    return nullptr;
  }
  long called = 0;
  int error = 0;
  int connection = -1;
  for (int passed = 0; called == 0 && connection < 0 && passed < kAnswerMs; passed += kCallMs) {
    called = syscall(SYS_tgkill, process, monitor, platform::kServiceCall);
    error = errno;
    if (called == 0) connection = await_process(listener, process);
  }
  close(listener);
  if (connection < 0) {
    // A signal that stops a process takes effect once its threads run again.
    *fault = why_no_answer(process);
    if (!fault->empty()) return nullptr;
    *fault = called != 0 ? why_not_called(error)
                         : "it does not answer: it may be in a container of its own (then ask inside of that), or its "
                           "weft does not let itself be asked";
    return nullptr;
  }
  std::unique_ptr<RunningProcess> inspector(new RunningProcess(process, connection));
  if (!inspector->receive(&inspector->inspected_, sizeof inspector->inspected_) || !inspector->has_own_layout()) {
    *fault = kOtherVersion;
    return nullptr;
  }
  return inspector;
}

RunningProcess::~RunningProcess() { give_up(); }

void RunningProcess::give_up() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
}

bool RunningProcess::receive(void* data, size_t size) {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    pollfd waits{socket_, POLLIN, 0};
    const ssize_t got = poll(&waits, 1, kAnswerMs) > 0 ? recv(socket_, at, size, 0) : -1;
    if (got <= 0) {
      give_up();
      return false;
    }
    at += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

int64_t RunningProcess::ask(const core::InspectionRequest& request, char* data) {
  core::InspectionAnswer answer;
  if (socket_ < 0 || send(socket_, &request, sizeof request, MSG_NOSIGNAL) != sizeof request ||
      !receive(&answer, sizeof answer) || answer.size > int64_t{request.size})
    return -EPIPE;
  return answer.size > 0 && !receive(data, static_cast<size_t>(answer.size)) ? -EPIPE : answer.size;
}

bool RunningProcess::read(uint64_t address, void* data, size_t size) {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    const auto piece = static_cast<uint32_t>(std::min<size_t>(size, core::kMostInspected));
    if (ask({.address = address, .size = piece}, at) != int64_t{piece}) return false;
    address += piece;
    at += piece;
    size -= piece;
  }
  return true;
}

std::vector<char> RunningProcess::read_some(uint64_t address, size_t size) {
  std::vector<char> data(size);
  size_t got = 0;
  while (got < size) {
    const auto piece = static_cast<uint32_t>(std::min<size_t>(size - got, core::kMostInspected));
    const int64_t read = ask({.address = address + got, .size = piece}, data.data() + got);
    if (read <= 0) break;
    got += static_cast<size_t>(read);
  }
  data.resize(got);
  return data;
}

std::optional<std::string> RunningProcess::file(pid_t thread, const std::string& name) {
  const std::string path = "task/" + std::to_string(thread) + '/' + name;
  core::InspectionRequest request{.address = 0, .size = core::kMostInspected};
  if (path.size() + 1 > request.file.size()) return std::nullopt;
  std::copy(path.begin(), path.end(), request.file.begin());
  std::string text;
  std::vector<char> piece(core::kMostInspected);
  for (;;) {
    request.address = text.size();
    const int64_t read = ask(request, piece.data());
    if (read < 0 && text.empty()) return std::nullopt;
    if (read <= 0) return text;
    text.append(piece.data(), static_cast<size_t>(read));
  }
}

std::string RunningProcess::subject() const { return "process " + std::to_string(process_); }

std::string RunningProcess::program() const { return program_of(process_); }

std::string RunningProcess::maps_file() const { return in_proc(process_, "maps"); }

std::vector<pid_t> RunningProcess::threads() { return threads_of(process_); }

SystemThread RunningProcess::thread(pid_t number) { return thread_in(file(number, "syscall").value_or("")); }

std::string RunningProcess::name_of_thread(pid_t number) {
  std::string name = file(number, "comm").value_or("");
  if (!name.empty() && name.back() == '\n') name.pop_back();
  return name;
}

}  // namespace weft::tools
