// SPDX-License-Identifier: Apache-2.0
// How long it takes until a slot that another process has is one's own: from the question to the answer, where the
// other one looks (it waits in place, or comes by) and gives at once; the asker looks too, or sleeps until somebody
// rings.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node/process.h"
#include "platform/cycles.h"

namespace {

using namespace weft;

// One slot between two.
node::Process* join(const char* path) {
  node::Terms terms;
  terms.cpus.add(0);
  node::Reason reason;
  node::Process* process = node::Process::join(path, terms, reason);
  if (process == nullptr) {
    std::fprintf(stderr, "node_handover: %s\n", reason.text);
    std::exit(1);
  }
  return process;
}

// Has the slot for a moment, as often as it can, and gives it to whoever asks.
[[noreturn]] void hold(const char* path) {
  node::Process* process = join(path);
  for (;;) {
    const int slot = process->take();
    if (slot < 0) {
      platform::pause();
      continue;
    }
    while (!process->pressed()) platform::pause();
    process->give(slot);
    while (process->pressed()) platform::pause();
  }
}

double ask(node::Process* process, bool sleeping) {
  const int64_t begin = platform::now_ns();
  process->want(1);
  int slot = process->take();
  while (slot < 0) {
    constexpr int64_t kTickNs = 5'000'000;
    if (sleeping) {
      process->wait(kTickNs);
      // As the monitor does: the division of a moment ago may have been another turn's.
      process->want(1);
    } else {
      platform::pause();
      if (process->due() == 0) process->want(1);
    }
    slot = process->take();
  }
  const int64_t end = platform::now_ns();
  process->give(slot);
  process->want(0);
  return static_cast<double>(end - begin) / 1000;
}

void report(const char* name, const std::vector<double>& samples, const char* end) {
  std::printf("\"%s\":{\"unit\":\"us\",\"samples\":[", name);
  for (size_t i = 0; i < samples.size(); ++i) std::printf("%s%.3f", i == 0 ? "" : ",", samples[i]);
  std::printf("]}%s", end);
}

}  // namespace

int main(int count, char** arguments) {
  const int samples = count > 1 ? std::atoi(arguments[1]) : 1000;
  const std::string path = "/dev/shm/weft-handover-" + std::to_string(getpid());
  const pid_t other = fork();
  if (other == 0) hold(path.c_str());
  node::Process* process = join(path.c_str());
  std::vector<double> awake;
  std::vector<double> asleep;
  for (int i = 0; i < samples; ++i) {
    for (const bool sleeping : {false, true}) {
      // Until the other one has it again.
      while (process->take() >= 0) {
        process->give(0);
        usleep(50);
      }
      (sleeping ? asleep : awake).push_back(ask(process, sleeping));
    }
  }
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
  process->leave();
  unlink(path.c_str());
  std::printf("{");
  report("handover", awake, ",");
  report("handover_asleep", asleep, "}\n");
}
