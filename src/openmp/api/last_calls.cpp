// SPDX-License-Identifier: Apache-2.0
#include "openmp/api/last_calls.h"

#include <cstdarg>
#include <cstddef>

#include <unistd.h>

#include "core/api/budget.h"

namespace weft::openmp {

namespace {

void (*g_exit)(int);
void (*g_c_exit)(int);
int (*g_execv)(const char*, char* const*);
int (*g_execve)(const char*, char* const*, char* const*);
int (*g_execvp)(const char*, char* const*);
int (*g_execvpe)(const char*, char* const*, char* const*);
int (*g_fexecve)(int, char* const*, char* const*);
int (*g_execveat)(int, const char*, char* const*, char* const*, int);

void our_exit(int status) {
  core::end_job_tokens();
  g_exit(status);
}

void our_c_exit(int status) {
  core::end_job_tokens();
  g_c_exit(status);
}

// Where the process has not become another program, it goes on.
template <class... Types, class... Values>
int become(int (*theirs)(Types...), Values... values) noexcept {
  core::end_job_tokens();
  const int result = theirs(values...);
  core::resume_job_tokens();
  return result;
}

int our_execv(const char* path, char* const* arguments) { return become(g_execv, path, arguments); }
int our_execve(const char* path, char* const* arguments, char* const* environment) {
  return become(g_execve, path, arguments, environment);
}
int our_execvp(const char* file, char* const* arguments) { return become(g_execvp, file, arguments); }
int our_execvpe(const char* file, char* const* arguments, char* const* environment) {
  return become(g_execvpe, file, arguments, environment);
}
int our_fexecve(int file, char* const* arguments, char* const* environment) {
  return become(g_fexecve, file, arguments, environment);
}
int our_execveat(int folder, const char* path, char* const* arguments, char* const* environment, int flags) {
  return become(g_execveat, folder, path, arguments, environment, flags);
}

size_t count_arguments(va_list list) noexcept {
  size_t count = 1;
  while (va_arg(list, char*) != nullptr) ++count;
  return count;
}

// Calls `then` with the arguments as an array, and with the list behind them.
template <class Then>
int with_array(const char* first, size_t count, va_list list, Then then) noexcept {
  auto** const array = static_cast<char**>(__builtin_alloca((count + 1) * sizeof(char*)));
  array[0] = const_cast<char*>(first);
  for (size_t i = 1; i <= count; ++i) array[i] = va_arg(list, char*);
  return then(array, list);
}

template <class Then>
int with_arguments(const char* first, va_list list, Then then) noexcept {
  va_list again;
  va_copy(again, list);
  const size_t count = first != nullptr ? count_arguments(list) : 0;
  const int result = count > 0 ? with_array(first, count, again, then) : -1;
  va_end(again);
  return result;
}

int our_execl(const char* path, const char* first, ...) {
  va_list list;
  va_start(list, first);
  const int result = with_arguments(first, list, [path](char** array, va_list) { return our_execv(path, array); });
  va_end(list);
  return result;
}

int our_execlp(const char* file, const char* first, ...) {
  va_list list;
  va_start(list, first);
  const int result = with_arguments(first, list, [file](char** array, va_list) { return our_execvp(file, array); });
  va_end(list);
  return result;
}

int our_execle(const char* path, const char* first, ...) {
  va_list list;
  va_start(list, first);
  const int result = with_arguments(
      first, list, [path](char** array, va_list rest) { return our_execve(path, array, va_arg(rest, char* const*)); });
  va_end(list);
  return result;
}

using List = int(const char*, const char*, ...);
List* g_execl;
List* g_execlp;
List* g_execle;

}  // namespace

platform::LibcCalls last_calls() noexcept {
  using platform::to_ours;
  static const platform::LibcCall calls[] = {
      to_ours("_exit", our_exit, &g_exit),         to_ours("_Exit", our_c_exit, &g_c_exit),
      to_ours("execv", our_execv, &g_execv),       to_ours("execve", our_execve, &g_execve),
      to_ours("execvp", our_execvp, &g_execvp),    to_ours("execvpe", our_execvpe, &g_execvpe),
      to_ours("fexecve", our_fexecve, &g_fexecve), to_ours("execveat", our_execveat, &g_execveat),
      to_ours("execl", our_execl, &g_execl),       to_ours("execlp", our_execlp, &g_execlp),
      to_ours("execle", our_execle, &g_execle),
  };
  return calls;
}

}  // namespace weft::openmp
