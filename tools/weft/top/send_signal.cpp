// SPDX-License-Identifier: Apache-2.0
#include "top/send_signal.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <iterator>

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process_stat.h"

namespace weft::tools {

namespace {

// The same on all machines; not in the headers of older systems.
constexpr long kPidfdSendSignal = 424;
constexpr long kPidfdOpen = 434;

struct NamedSignal {
  const char* name;
  int number;
};

constexpr NamedSignal kSignals[] = {{"HUP", SIGHUP},   {"INT", SIGINT},   {"QUIT", SIGQUIT}, {"ABRT", SIGABRT},
                                    {"KILL", SIGKILL}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"ALRM", SIGALRM},
                                    {"TERM", SIGTERM}, {"CONT", SIGCONT}, {"STOP", SIGSTOP}, {"TSTP", SIGTSTP}};

bool is_started_at(int pid, uint64_t start) {
  ProcessStat stat;
  return read_process_stat(pid, stat) && stat.start == start;
}

}  // namespace

int signal_named(const std::string& text) {
  int number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec == std::errc() && read.ptr == text.data() + text.size())
    return number > 0 && number <= SIGRTMAX ? number : 0;
  std::string name = text;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (name.starts_with("SIG")) name.erase(0, 3);
  const auto found = std::find_if(std::begin(kSignals), std::end(kSignals),
                                  [&](const NamedSignal& signal) { return name == signal.name; });
  return found != std::end(kSignals) ? found->number : 0;
}

std::string name_of_signal(int signal) {
  const auto found = std::find_if(std::begin(kSignals), std::end(kSignals),
                                  [signal](const NamedSignal& known) { return known.number == signal; });
  return found != std::end(kSignals) ? std::string("SIG") + found->name : "signal " + std::to_string(signal);
}

std::string send_signal(int pid, uint64_t start, int signal) {
  const auto file = static_cast<int>(syscall(kPidfdOpen, pid, 0));
  if (file < 0 && errno != ENOSYS && errno != EPERM) return std::strerror(errno);
  // Whom the descriptor means stays the same, so it is looked at behind it.
  std::string fault;
  if (!is_started_at(pid, start)) {
    fault = "it has ended";
  } else if ((file >= 0 ? syscall(kPidfdSendSignal, file, signal, nullptr, 0) : kill(pid, signal)) != 0) {
    fault = std::strerror(errno);
  }
  if (file >= 0) close(file);
  return fault;
}

}  // namespace weft::tools
