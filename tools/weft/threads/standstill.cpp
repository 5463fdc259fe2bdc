// SPDX-License-Identifier: Apache-2.0
#include "threads/standstill.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "platform/service_thread.h"

namespace weft::tools::threads {

namespace {

// When the thread has run last, in seconds of the scheduler's clock.
std::optional<double> last_run(const std::filesystem::path& task) {
  std::ifstream file(task / "sched");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (line.starts_with("se.exec_start") && colon != std::string::npos)
      return std::strtod(line.c_str() + colon + 1, nullptr) / 1000;
  }
  return std::nullopt;
}

bool is_service(const std::filesystem::path& task) {
  std::string name;
  std::getline(std::ifstream(task / "comm"), name);
  return name.starts_with(platform::kServicePrefix);
}

bool is_on_cpu(const std::filesystem::path& task) {
  std::string text;
  std::getline(std::ifstream(task / "stat"), text);
  // Behind the name, which may have anything in it.
  const size_t end = text.rfind(") ");
  return end != std::string::npos && text.compare(end + 2, 1, "R") == 0;
}

}  // namespace

std::optional<double> seconds_still(pid_t process) {
  std::optional<double> latest;
  std::error_code error;
  const std::filesystem::path tasks = "/proc/" + std::to_string(process) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks, error)) {
    if (is_service(task)) continue;
    const std::optional<double> ran = last_run(task);
    if (!ran || is_on_cpu(task)) return std::nullopt;
    latest = std::max(latest.value_or(*ran), *ran);
  }
  // This thread runs now.
  const std::optional<double> now = last_run("/proc/thread-self");
  if (!latest || !now) return std::nullopt;
  return std::max(*now - *latest, 0.0);
}

}  // namespace weft::tools::threads
