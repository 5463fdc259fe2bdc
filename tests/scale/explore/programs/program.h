// SPDX-License-Identifier: Apache-2.0
// A protocol as a small closed program: a few threads that end, and what must hold then. A file each; a program is one
// object of its class a run.
#pragma once

#include <memory>
#include <vector>

namespace weft::explore {

class Program {
 public:
  Program() = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  virtual ~Program() = default;
  // Of thread 1, 2, ...
  virtual void run(int thread) = 0;
  // When all have ended.
  virtual void check() {}
};

// The run has failed unless `holds`.
void expect(bool holds, const char* what);
// A number below `count`, as the seed says: which of several things a thread does.
unsigned choose(unsigned count);
// The calling thread, from 1; 0 while the program is set up or checked.
int current_thread();

// While it lives, plain accesses are not told to anybody.
class Unobserved {
 public:
  Unobserved();
  ~Unobserved();
  Unobserved(const Unobserved&) = delete;
  Unobserved& operator=(const Unobserved&) = delete;
};

struct Entry {
  const char* name;
  int threads;
  std::unique_ptr<Program> (*make)();
  bool has_fault = false;  // planted: to be found
  bool may_time_out = false;  // its waits have limits that may pass
};
std::vector<Entry>& entries();

struct Registered {
  explicit Registered(const Entry& entry) { entries().push_back(entry); }
};

template <class P>
std::unique_ptr<Program> make() {
  return std::make_unique<P>();
}

}  // namespace weft::explore
