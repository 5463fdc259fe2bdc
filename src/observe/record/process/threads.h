// SPDX-License-Identifier: Apache-2.0
// The OS threads of the process, and the CPU time of each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::observe {

class Threads {
 public:
  struct Thread {
    int number = 0;  // the kernel's
    std::string name;
    int64_t cpu = 0;     // nanoseconds
    int64_t before = 0;  // of them: that do not count
  };

  // What the threads have had until now does not count.
  void begin();

  // Looks at all that are there. Those that have gone keep what they had.
  void look();

  const std::vector<Thread>& all() const noexcept { return threads_; }

 private:
  std::vector<Thread> threads_;
};

}  // namespace weft::observe
