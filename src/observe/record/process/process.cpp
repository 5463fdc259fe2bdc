// SPDX-License-Identifier: Apache-2.0
#include "observe/record/process/process.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include <time.h>
#include <unistd.h>

#include "platform/cycles.h"
#include "platform/process.h"

namespace weft::observe {

namespace {

std::string contents_of(const char* path) {
  std::string all;
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return all;
  char some[4096];
  while (const size_t count = std::fread(some, 1, sizeof some, file)) all.append(some, count);
  std::fclose(file);
  return all;
}

// Which variables say how many threads there are and what they do.
bool is_setting(const char* variable) {
  for (const char* beginning : {"OMP_", "GOMP_", "KMP_", "WEFT_", "OPENBLAS_", "MKL_", "BLIS_", "GOTO_"}) {
    if (std::strncmp(variable, beginning, std::strlen(beginning)) == 0) return true;
  }
  return false;
}

void write_command(Json& json, const char* title) {
  json.key("command");
  json.open('[');
  std::string all = title != nullptr ? title : contents_of("/proc/self/cmdline");
  if (title != nullptr) std::replace(all.begin(), all.end(), ' ', '\0');
  for (size_t at = 0; at < all.size(); at += std::strlen(all.c_str() + at) + 1) json.value(std::string(&all[at]));
  json.close(']');
}

void write_settings(Json& json) {
  json.key("settings");
  json.open('{');
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const char* equals = std::strchr(*variable, '=');
    if (equals == nullptr || !is_setting(*variable)) continue;
    const std::string name(static_cast<const char*>(*variable), equals);
    if (name.find_first_of("\"\\") == std::string::npos) json.field(name.c_str(), std::string(equals + 1));
  }
  json.close('}');
}

void write_threads(Json& json, const Process& process) {
  const auto has = [](const std::vector<int>& numbers, int number) {
    return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
  };
  json.key("threads");
  json.open('[');
  for (const Threads::Thread& thread : process.threads.all()) {
    // Those of the pool that are no carriers have its name too.
    const bool ours = has(process.carriers, thread.number) || thread.name.rfind("weft", 0) == 0;
    if (thread.before > 0 && thread.cpu == thread.before) continue;
    json.open('{');
    json.field("name", thread.name);
    json.field("whose", std::string(has(process.roots, thread.number) ? "program" : ours ? "weft" : "other"));
    json.field("cpu", static_cast<double>(thread.cpu - thread.before));
    json.close('}');
  }
  json.close(']');
}

}  // namespace

void write_process(Json& json, const Process& process) {
  char host[128] = "";
  gethostname(host, sizeof host - 1);
  json.field("version", std::string(process.version));
  json.field("process", static_cast<int>(getpid()));
  json.field("host", std::string(host));
  json.field("began", process.unix_began);
  json.field("cpus", process.cpus);
  json.field("others_cpu", static_cast<double>(process.others_cpu));
  json.field("memory_nodes", process.memory.nodes);
  json.field("memory_on_one_node", process.memory.on_one_node);
  write_command(json, process.title);
  write_settings(json);
  write_threads(json, process);
  json.field("maps", contents_of("/proc/self/maps"));
}

int64_t process_began() noexcept {
  const int64_t now = platform::now_ns();
  const uint64_t start = platform::process_start(getpid());
  if (start == 0) return now;
  const long per_second = sysconf(_SC_CLK_TCK);
  const int64_t since_boot = static_cast<int64_t>(start) * (1'000'000'000 / per_second);
  const int64_t age = platform::clock_ns(CLOCK_BOOTTIME) - since_boot;
  return age > 0 ? now - age : now;
}

PlainNumbers::PlainNumbers() noexcept : plain_(newlocale(LC_ALL_MASK, "C", nullptr)), before_(uselocale(plain_)) {}

PlainNumbers::~PlainNumbers() {
  uselocale(before_);
  freelocale(plain_);
}

}  // namespace weft::observe
