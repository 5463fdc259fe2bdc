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
#include "exit_codes.h"
#include "program.h"

namespace weft::tools {

namespace {

volatile sig_atomic_t g_child = 0;

// Whoever asks for the end twice wants it: a program that does not come to it is killed. The report follows.
volatile sig_atomic_t g_terminated = 0;
volatile sig_atomic_t g_interrupted = 0;

// Tenths of a second, from any moment on; never 0.
sig_atomic_t tenths() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<sig_atomic_t>(time.tv_sec * 10 + time.tv_nsec / 100'000'000 + 1);
}

void pass_on(int number) {
  if (g_child <= 0) return;
  // Whoever ends a program and then its group, as timeout does, has not asked twice.
  constexpr sig_atomic_t kOnce = 1;
  const bool again = number == SIGTERM && g_terminated != 0 && tenths() - g_terminated > kOnce;
  if (number == SIGTERM && g_terminated == 0) g_terminated = tenths();
  kill(g_child, again ? SIGKILL : number);
}

// A terminal sends its signals to the program too. A process that sends them to this command alone means the program.
void pass_on_unless_typed(int number, siginfo_t* from, void*) {
  if (g_child > 0 && from->si_code != SI_KERNEL) kill(g_child, number);
}

// Programs that people talk to take many, one at a time.
void count_interrupt(int number, siginfo_t* from, void* context) {
  constexpr sig_atomic_t kOnce = 1;
  constexpr sig_atomic_t kTogether = 20;
  const sig_atomic_t now = tenths();
  const sig_atomic_t since = g_interrupted != 0 ? now - g_interrupted : kTogether;
  if (g_child > 0 && since > kOnce && since < kTogether) kill(g_child, SIGKILL);
  if (since > kOnce) g_interrupted = now;
  pass_on_unless_typed(number, from, context);
}

void ignored(int) {}

// A terminal sends these to the program too.
constexpr int kFromTerminal[] = {SIGINT, SIGQUIT};
constexpr int kForProgram[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

// What is ignored here is by the program too, and stays so.
void handle(int number, const struct sigaction& action) {
  struct sigaction before{};
  sigaction(number, nullptr, &before);
  if (before.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
}

void set_handlers() {
  struct sigaction action{};
  action.sa_flags = SA_SIGINFO;
  for (const int number : kFromTerminal) {
    action.sa_sigaction = number == SIGINT ? count_interrupt : pass_on_unless_typed;
    handle(number, action);
  }
  action.sa_flags = 0;
  action.sa_handler = pass_on;
  for (const int number : kForProgram) handle(number, action);
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
                 const std::function<void()>& look, std::chrono::milliseconds longest) {
  // The end of the child wakes the waits below.
  sigset_t ended;
  sigset_t before;
  sigemptyset(&ended);
  sigaddset(&ended, SIGCHLD);
  // Until somebody is there for them to go to.
  sigset_t early = ended;
  for (const int number : kFromTerminal) sigaddset(&early, number);
  for (const int number : kForProgram) sigaddset(&early, number);
  struct sigaction action{};
  action.sa_handler = ignored;
  sigaction(SIGCHLD, &action, nullptr);
  sigprocmask(SIG_BLOCK, &early, &before);
  struct sigaction old[std::size(kFromTerminal) + std::size(kForProgram)];
  size_t saved = 0;
  for (const int number : kFromTerminal) sigaction(number, nullptr, &old[saved++]);
  for (const int number : kForProgram) sigaction(number, nullptr, &old[saved++]);
  const pid_t child = fork();
  if (child < 0) {
    base::warn("%s: no process can be made: %s", by.c_str(), std::strerror(errno));
    sigprocmask(SIG_SETMASK, &before, nullptr);
    return {.exit_code = kCannotExecute};
  }
  if (child == 0) {
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    become(path, command);
  }
  g_child = child;
  set_handlers();
  sigprocmask(SIG_SETMASK, &before, nullptr);
  sigprocmask(SIG_BLOCK, &ended, nullptr);
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
        std::clamp<Clock::duration>((now - began) / 10, std::chrono::milliseconds(20), longest),
        20 * (now - before_look));
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
