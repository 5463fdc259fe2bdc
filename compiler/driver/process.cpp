// SPDX-License-Identifier: Apache-2.0
#include "process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "refusal.h"

namespace weft::driver {

namespace {

std::vector<char*> as_arguments(const Words& words) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  return arguments;
}

[[noreturn]] void refuse(const std::string& path, int error) {
  throw Refusal{kCannotRun, path + ": " + std::strerror(error)};
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

}  // namespace

void become(const std::string& path, const Words& words) {
  execv(path.c_str(), as_arguments(words).data());
  refuse(path, errno);
}

int run(const std::string& path, const Words& words) {
  // Ctrl-C reaches both; the child says how it ends.
  const auto interrupt = std::signal(SIGINT, SIG_IGN);
  const auto quit = std::signal(SIGQUIT, SIG_IGN);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t own;
  sigemptyset(&own);
  if (interrupt != SIG_IGN) sigaddset(&own, SIGINT);
  if (quit != SIG_IGN) sigaddset(&own, SIGQUIT);
  posix_spawnattr_setsigdefault(&attributes, &own);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  const int error = posix_spawn(&child, path.c_str(), nullptr, &attributes, as_arguments(words).data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) refuse(path, error);
  const int status = wait_for(child);
  std::signal(SIGINT, interrupt);
  std::signal(SIGQUIT, quit);
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  const int signal = WTERMSIG(status);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  std::signal(signal, SIG_DFL);
  raise(signal);
  return 128 + signal;
}

std::string output_of(const std::string& path, const Words& words) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error = posix_spawn(&child, path.c_str(), &actions, nullptr, as_arguments(words).data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string output;
  std::array<char, 4096> part;
  ssize_t size = 0;
  while (error == 0 && ((size = read(ends[0], part.data(), part.size())) > 0 || (size < 0 && errno == EINTR))) {
    if (size > 0) output.append(part.data(), static_cast<size_t>(size));
  }
  close(ends[0]);
  if (error != 0 || wait_for(child) != 0) return {};
  return output;
}

}  // namespace weft::driver
