// SPDX-License-Identifier: Apache-2.0
// Benchmarks of several processes that share memory: how these are started, bound, timed and waited for.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace bench {

// Memory that processes share. Each maps it anew, so that it stands elsewhere in each.
class SharedMemory {
 public:
  explicit SharedMemory(size_t size);
  void* map() const;
  size_t size() const { return size_; }

 private:
  int file_;
  size_t size_;
};

// What a process has used of the system.
struct Usage {
  int64_t cpu_ns;
  int64_t waits;        // it gave its CPU away
  int64_t preemptions;  // its CPU was taken away
};
Usage usage_now();
Usage operator-(const Usage& later, const Usage& sooner);

// How many CPUs this process could use when it began.
int cpus();
// Binds the caller to one of the CPUs that this process may use, counted around.
void bind_to(int number);

// Runs the body in a process, which ends by itself after a minute, or with its parent.
pid_t start_process(const std::function<void()>& body);
// Waits for all; exits when one of them has failed, and says so.
void finish_processes(const std::vector<pid_t>& processes);

void sleep_until(int64_t monotonic_ns);

// Processes that are measured begin together and stop together. It stands in memory that they share.
struct Gate {
  std::atomic<int> ready;
  std::atomic<int> go;
  std::atomic<int> stop;
};
// Opens the gate when all are ready, stops them after this time, and waits for them. Nanoseconds from `go` to `stop`.
double conduct(Gate& gate, const std::vector<pid_t>& processes, int milliseconds);

// The value of an option; exits with a message where it is none from `least` to `most`.
int number(const std::string& option, const char* text, int least, int most);

// "name":{"unit":"ns","samples":[...]} with what stands before it.
void print_samples(const char* before, const char* name, const char* unit, const std::vector<double>& samples);
// The value that the given share of the samples is at or below; they are put in order. 0 without samples.
double quantile(std::vector<double>& samples, double share);

}  // namespace bench
