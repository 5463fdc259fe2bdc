// SPDX-License-Identifier: Apache-2.0
#include "threads/standstill.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include <sched.h>

#include "platform/service_thread.h"

namespace weft::tools::threads {

namespace {

// When the thread has run last, in seconds of its CPU's clock of the scheduler.
std::optional<double> last_run(const std::filesystem::path& task) {
  std::ifstream file(task / "sched");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (line.starts_with("se.exec_start") && colon != std::string::npos)
      return std::strtod(line.c_str() + colon + 1, nullptr) / 1000;
  }
  return std::nullopt;
}

// What that clock says now: this thread runs there for a moment. The clocks of two CPUs may be seconds apart.
class CpuClocks {
 public:
  CpuClocks() { known_ = sched_getaffinity(0, sizeof before_, &before_) == 0; }
  ~CpuClocks() {
    if (known_) sched_setaffinity(0, sizeof before_, &before_);
  }
  CpuClocks(const CpuClocks&) = delete;
  CpuClocks& operator=(const CpuClocks&) = delete;

  std::optional<double> now(int cpu) {
    if (const auto found = clocks_.find(cpu); found != clocks_.end()) return found->second;
    cpu_set_t one;
    CPU_ZERO(&one);
    if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(cpu, &one);
    const bool is_there = known_ && sched_setaffinity(0, sizeof one, &one) == 0;
    // Seen at a change of threads.
    if (is_there) sched_yield();
    return clocks_[cpu] = is_there ? last_run("/proc/thread-self") : std::nullopt;
  }

 private:
  bool known_ = false;
  cpu_set_t before_{};
  std::map<int, std::optional<double>> clocks_;
};

bool is_service(const std::filesystem::path& task) {
  std::string name;
  std::getline(std::ifstream(task / "comm"), name);
  return name.starts_with(platform::kServicePrefix);
}

struct ThreadState {
  bool wants_cpu = true;
  int cpu = -1;  // where it has run last
};

ThreadState state_of(const std::filesystem::path& task) {
  std::string text;
  std::getline(std::ifstream(task / "stat"), text);
  // Behind the name, which may have anything in it.
  const size_t end = text.rfind(") ");
  if (end == std::string::npos) return {};
  constexpr int kCpu = 36;  // fields behind the state
  std::istringstream fields(text.substr(end + 4));
  ThreadState state{.wants_cpu = text[end + 2] == 'R'};
  std::string field;
  for (int i = 1; i < kCpu && fields >> field; ++i) {
  }
  if (!(fields >> state.cpu)) state.cpu = -1;
  return state;
}

}  // namespace

std::optional<double> seconds_still(pid_t process) {
  std::optional<double> least;
  CpuClocks clocks;
  std::error_code error;
  const std::filesystem::path tasks = "/proc/" + std::to_string(process) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks, error)) {
    if (is_service(task)) continue;
    const ThreadState state = state_of(task);
    const std::optional<double> ran = last_run(task);
    const std::optional<double> now = clocks.now(state.cpu);
    if (state.wants_cpu || !ran || !now) return std::nullopt;
    least = std::min(least.value_or(*now - *ran), *now - *ran);
  }
  return least ? std::max(*least, 0.0) : least;
}

}  // namespace weft::tools::threads
