// SPDX-License-Identifier: Apache-2.0
// Ends of the program that its destructors do not see, and what it becomes afterwards.
#include <cstdarg>
#include <cstdlib>

#include <unistd.h>

#include "numa/collector/collector.h"
#include "numa/collector/guard.h"
#include "numa/collector/real.h"

namespace weft::numa {

namespace {

constinit Real<void(int)> g_exit{"_exit"};
constinit Real<void(int)> g_Exit{"_Exit"};
constinit Real<void(int)> g_quick_exit{"quick_exit"};
constinit Real<int(const char*, char* const*, char* const*)> g_execve{"execve"};
constinit Real<int(const char*, char* const*, char* const*)> g_execvpe{"execvpe"};
constinit Real<int(int, char* const*, char* const*)> g_fexecve{"fexecve"};
constinit Real<int(int, const char*, char* const*, char* const*, int)> g_execveat{"execveat"};
constinit Real<pid_t()> g_fork{"_Fork"};

void before_end() noexcept {
  if (record() == nullptr || !is_own_process()) return;
  guard_stop(Stop::none);
  look_back();
}

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
  record()->header.ended.store(0);
  return error;
}

// The arguments of execl() and its relatives, up to a null.
struct Arguments {
  static constexpr int kMost = 1024;
  char* word[kMost + 1];
  void read(const char* first, va_list& list) noexcept {
    int count = 0;
    for (char* next = const_cast<char*>(first); next != nullptr && count < kMost; next = va_arg(list, char*)) {
      word[count++] = next;
    }
    word[count] = nullptr;
  }
};

}  // namespace

}  // namespace weft::numa

using namespace weft::numa;

extern "C" {

[[gnu::visibility("default")]] void _exit(int status) {
  before_end();
  g_exit.get()(status);
  __builtin_unreachable();
}

[[gnu::visibility("default")]] void _Exit(int status) noexcept {
  before_end();
  g_Exit.get()(status);
  __builtin_unreachable();
}

[[gnu::visibility("default")]] void quick_exit(int status) noexcept {
  before_end();
  g_quick_exit.get()(status);
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
  Arguments arguments;
  va_list list;
  va_start(list, first);
  arguments.read(first, list);
  va_end(list);
  return execv(path, arguments.word);
}

[[gnu::visibility("default")]] int execlp(const char* name, const char* first, ...) noexcept {
  Arguments arguments;
  va_list list;
  va_start(list, first);
  arguments.read(first, list);
  va_end(list);
  return execvp(name, arguments.word);
}

[[gnu::visibility("default")]] int execle(const char* path, const char* first, ...) noexcept {
  Arguments arguments;
  va_list list;
  va_start(list, first);
  arguments.read(first, list);
  char* const* environment = va_arg(list, char* const*);
  va_end(list);
  return execve(path, arguments.word, environment);
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
