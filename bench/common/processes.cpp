// SPDX-License-Identifier: Apache-2.0
#include "common/processes.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/cycles.h"

namespace bench {

namespace {

constexpr int kMostSeconds = 60;

// Of the first process, before any was bound.
const cpu_set_t kAllowed = [] {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof(allowed), &allowed);
  return allowed;
}();

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

}  // namespace

SharedMemory::SharedMemory(size_t size) : file_(memfd_create("weft-bench", MFD_CLOEXEC)), size_(size) {
  if (file_ < 0) fail("memfd_create");
  if (ftruncate(file_, static_cast<off_t>(size)) != 0) fail("ftruncate");
}

void* SharedMemory::map() const {
  void* found = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file_, 0);
  if (found == MAP_FAILED) fail("mmap");
  return found;
}

Usage usage_now() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto ns = [](const timeval& time) {
    return time.tv_sec * int64_t{1'000'000'000} + time.tv_usec * int64_t{1000};
  };
  return {ns(used.ru_utime) + ns(used.ru_stime), used.ru_nvcsw, used.ru_nivcsw};
}

Usage operator-(const Usage& later, const Usage& sooner) {
  return {later.cpu_ns - sooner.cpu_ns, later.waits - sooner.waits, later.preemptions - sooner.preemptions};
}

int cpus() { return CPU_COUNT(&kAllowed); }

void bind_to(int number) {
  int turn = number % cpus();
  int cpu = 0;
  while (!CPU_ISSET(cpu, &kAllowed) || turn-- > 0) ++cpu;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  if (sched_setaffinity(0, sizeof(one), &one) != 0) fail("sched_setaffinity");
}

pid_t start_process(const std::function<void()>& body) {
  std::fflush(stdout);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) fail("fork");
  if (child > 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  alarm(kMostSeconds);
  body();
  std::fflush(stdout);
  _exit(0);
}

void finish_processes(const std::vector<pid_t>& processes) {
  bool failed = false;
  for (size_t i = 0; i < processes.size(); ++i) {
    int status = 0;
    const pid_t ended = wait(&status);
    if (ended < 0) fail("wait");
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    std::fprintf(stderr, "process %d ended with %s %d\n", ended, WIFEXITED(status) ? "status" : "signal",
                 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    // The others may wait for it.
    if (!failed)
      for (const pid_t process : processes) kill(process, SIGKILL);
    failed = true;
  }
  if (failed) std::exit(1);
}

void sleep_until(int64_t monotonic_ns) {
  const timespec when{static_cast<time_t>(monotonic_ns / 1'000'000'000),
                      static_cast<long>(monotonic_ns % 1'000'000'000)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr) != 0) {
  }
}

double conduct(Gate& gate, const std::vector<pid_t>& processes, int milliseconds) {
  while (gate.ready.load() < static_cast<int>(processes.size())) sleep_until(weft::platform::now_ns() + 200'000);
  const int64_t begin = weft::platform::now_ns();
  gate.go.store(1);
  sleep_until(begin + milliseconds * int64_t{1'000'000});
  const int64_t end = weft::platform::now_ns();
  gate.stop.store(1);
  finish_processes(processes);
  return static_cast<double>(end - begin);
}

int number(const std::string& option, const char* text, int least, int most) {
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (*text == '\0' || *end != '\0' || value < least || value > most) {
    std::fprintf(stderr, "%s: %s %s: a number from %d to %d is wanted\n", program_invocation_short_name, option.c_str(),
                 text, least, most);
    std::exit(2);
  }
  return static_cast<int>(value);
}

void print_samples(const char* before, const char* name, const char* unit, const std::vector<double>& samples) {
  std::printf("%s\"%s\":{\"unit\":\"%s\",\"samples\":[", before, name, unit);
  for (size_t i = 0; i < samples.size(); ++i) std::printf("%s%.4f", i == 0 ? "" : ",", samples[i]);
  std::printf("]}");
}

double quantile(std::vector<double>& samples, double share) {
  if (samples.empty()) return 0;
  std::sort(samples.begin(), samples.end());
  const auto place = static_cast<size_t>(std::ceil(share * static_cast<double>(samples.size())));
  return samples[std::clamp<size_t>(place, 1, samples.size()) - 1];
}

}  // namespace bench
