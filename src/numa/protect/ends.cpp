// SPDX-License-Identifier: Apache-2.0
// Ends of the program that its destructors do not see, and what it becomes afterwards.
#include <cstdarg>
#include <cstdlib>

#include <unistd.h>

#include "numa/collector/collector.h"
#include "numa/collector/real.h"
#include "numa/protect/guard.h"

namespace weft::numa {

namespace {

constinit Real<void(int)> g_exit{"_exit"};
constinit Real<void(int)> g_Exit{"_Exit"};
constinit Real<int(const char*, char* const*, char* const*)> g_execve{"execve"};
constinit Real<int(const char*, char* const*, char* const*)> g_execvpe{"execvpe"};
constinit Real<int(int, char* const*, char* const*)> g_fexecve{"fexecve"};
constinit Real<int(int, const char*, char* const*, char* const*, int)> g_execveat{"execveat"};
constinit Real<pid_t()> g_fork{"_Fork"};

// A child by vfork() is in its parent's memory: it must not change what its parent goes on with.
template <class Become>
int become(Become&& become) {
  if (record() == nullptr) return become();
  if (!is_own_process()) {
    open_guard();
    return become();
  }
  const Pause pause;
  look_back();
  const int error = become();
  if (Record* all = record(); all != nullptr) all->header.ended.store(0);
  return error;
}

// How many arguments execl() and its relatives have got, up to a null.
size_t count_arguments(const char* first, va_list& list) noexcept {
  size_t count = 0;
  for (const char* next = first; next != nullptr; next = va_arg(list, const char*)) ++count;
  return count;
}

void read_arguments(const char* first, va_list& list, char** words) noexcept {
  for (char* next = const_cast<char*>(first); next != nullptr; next = va_arg(list, char*)) *words++ = next;
  *words = nullptr;
}

}  // namespace

}  // namespace weft::numa

using namespace weft::numa;

// As many as there are, since the stack may be small. `list` stands behind them.
#define WEFT_ARGUMENTS(arguments, list, first)                                           \
  va_list list;                                                                          \
  va_start(list, first);                                                                 \
  const size_t count = count_arguments(first, list);                                     \
  va_end(list);                                                                          \
  char** arguments = static_cast<char**>(__builtin_alloca((count + 1) * sizeof(char*))); \
  va_start(list, first);                                                                 \
  read_arguments(first, list, arguments);

extern "C" {

[[gnu::visibility("default")]] void _exit(int status) {
  leave();
  g_exit.get()(status);
  __builtin_unreachable();
}

[[gnu::visibility("default")]] void _Exit(int status) noexcept {
  leave();
  g_Exit.get()(status);
  __builtin_unreachable();
}

[[gnu::visibility("default")]] int execve(const char* path, char* const* arguments, char* const* environment) noexcept {
  return become([&] { return g_execve.get()(path, arguments, environment); });
}

[[gnu::visibility("default")]] int execv(const char* path, char* const* arguments) noexcept {
  return become([&] { return g_execve.get()(path, arguments, environ); });
}

[[gnu::visibility("default")]] int execvpe(const char* name, char* const* arguments,
                                           char* const* environment) noexcept {
  return become([&] { return g_execvpe.get()(name, arguments, environment); });
}

[[gnu::visibility("default")]] int execvp(const char* name, char* const* arguments) noexcept {
  return become([&] { return g_execvpe.get()(name, arguments, environ); });
}

[[gnu::visibility("default")]] int fexecve(int file, char* const* arguments, char* const* environment) noexcept {
  return become([&] { return g_fexecve.get()(file, arguments, environment); });
}

[[gnu::visibility("default")]] int execveat(int folder, const char* path, char* const* arguments,
                                            char* const* environment, int flags) noexcept {
  return become([&] { return g_execveat.get()(folder, path, arguments, environment, flags); });
}

[[gnu::visibility("default")]] int execl(const char* path, const char* first, ...) noexcept {
  WEFT_ARGUMENTS(arguments, list, first)
  va_end(list);
  return execv(path, arguments);
}

[[gnu::visibility("default")]] int execlp(const char* name, const char* first, ...) noexcept {
  WEFT_ARGUMENTS(arguments, list, first)
  va_end(list);
  return execvp(name, arguments);
}

[[gnu::visibility("default")]] int execle(const char* path, const char* first, ...) noexcept {
  WEFT_ARGUMENTS(arguments, list, first)
  char* const* environment = va_arg(list, char* const*);
  va_end(list);
  return execve(path, arguments, environment);
}

// It calls no handlers of pthread_atfork().
[[gnu::visibility("default")]] pid_t _Fork() noexcept {
  guard_before_fork();
  const pid_t child = g_fork.get()();
  if (child == 0) {
    forget_record();
  } else {
    guard_after_fork();
  }
  return child;
}

}  // extern "C"
