// SPDX-License-Identifier: Apache-2.0
#include "child.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/message.h"
#include "program.h"

namespace weft::tools {

namespace {

constexpr int kCannotExecute = 126;
constexpr int kBySignal = 128;

volatile sig_atomic_t g_child = 0;

// Whoever asks for the end twice wants it: a program that does not come to it is killed. The report follows.
volatile sig_atomic_t g_terminated = 0;
volatile sig_atomic_t g_interrupted = 0;

void pass_on(int number) {
  if (g_child <= 0) return;
  const bool again = number == SIGTERM && g_terminated != 0;
  if (number == SIGTERM) g_terminated = 1;
  kill(g_child, again ? SIGKILL : number);
}

// By a terminal, which sends it to the program too. Programs that people talk to take many, one at a time.
void count_interrupt(int) {
  constexpr sig_atomic_t kTogether = 2;
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  const auto now = static_cast<sig_atomic_t>(time.tv_sec);
  if (g_child > 0 && g_interrupted != 0 && now - g_interrupted < kTogether) kill(g_child, SIGKILL);
  g_interrupted = now;
}

void ignored(int) {}

// A terminal sends these to the program too.
constexpr int kFromTerminal[] = {SIGINT, SIGQUIT};
constexpr int kForProgram[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

void set_handlers(void (*terminal)(int), void (*others)(int)) {
  struct sigaction action{};
  action.sa_handler = terminal;
  for (const int number : kFromTerminal) {
    action.sa_handler = number == SIGINT ? count_interrupt : terminal;
    sigaction(number, &action, nullptr);
  }
  action.sa_handler = others;
  for (const int number : kForProgram) sigaction(number, &action, nullptr);
}

[[noreturn]] void become(const std::string& path, const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execv(path.c_str(), arguments.data());
  const int error = errno;
  if (error == ENOEXEC && is_text(path)) run_by_shell(path, arguments);
  base::warn("%s: %s", path.c_str(), std::strerror(error));
  _exit(kCannotExecute);
}

}  // namespace

Ending run_child(const std::string& by, const std::string& path, const std::vector<std::string>& command,
                 const std::function<void()>& look, std::chrono::milliseconds most) {
  // The end of the child wakes the waits below.
  sigset_t ended;
  sigset_t before;
  sigemptyset(&ended);
  sigaddset(&ended, SIGCHLD);
  struct sigaction action{};
  action.sa_handler = ignored;
  sigaction(SIGCHLD, &action, nullptr);
  sigprocmask(SIG_BLOCK, &ended, &before);
  struct sigaction old[std::size(kFromTerminal) + std::size(kForProgram)];
  size_t saved = 0;
  for (const int number : kFromTerminal) sigaction(number, nullptr, &old[saved++]);
  for (const int number : kForProgram) sigaction(number, nullptr, &old[saved++]);
  const pid_t child = fork();
  if (child < 0) {
    base::warn("%s: no process can be made: %s", by.c_str(), std::strerror(errno));
    return {.exit_code = kCannotExecute};
  }
  if (child == 0) {
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    become(path, command);
  }
  g_child = child;
  set_handlers(ignored, pass_on);
  using Clock = std::chrono::steady_clock;
  const Clock::time_point began = Clock::now();
  int status = 0;
  rusage used{};
  for (;;) {
    const pid_t done = wait4(child, &status, WNOHANG, &used);
    if (done == child || (done < 0 && errno != EINTR)) break;
    const Clock::time_point before_look = Clock::now();
    look();
    // Looks are a small part of the time, however large the process is: a tenth of what has passed lies between them,
    // and twenty times what the last one took.
    const Clock::time_point now = Clock::now();
    const auto pause = std::max<Clock::duration>(
        std::clamp<Clock::duration>((now - began) / 10, std::chrono::milliseconds(20), most), 20 * (now - before_look));
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(pause).count();
    const timespec limit{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
    sigtimedwait(&ended, nullptr, &limit);
  }
  g_child = 0;
  saved = 0;
  for (const int number : kFromTerminal) sigaction(number, &old[saved++], nullptr);
  for (const int number : kForProgram) sigaction(number, &old[saved++], nullptr);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
  const auto of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  const double cpu_seconds = of(used.ru_utime) + of(used.ru_stime);
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return {signal != 0 ? kBySignal + signal : WEXITSTATUS(status), signal, child, seconds, cpu_seconds};
}

}  // namespace weft::tools
