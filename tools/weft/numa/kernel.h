// SPDX-License-Identifier: Apache-2.0
// All that `weft numa` asks the kernel. Tests put a made-up machine in its place.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include "platform/numa.h"

namespace weft::tools::numa {

class Kernel {
 public:
  virtual ~Kernel() = default;

  virtual const platform::NumaNodes& nodes() const = 0;
  // The contents of a file of /proc or /sys, by its whole name; 0, or an errno.
  virtual int read(const std::string& file, std::string& text) const = 0;
  // The numbers in the names of a folder, such as those of /proc/PID/task.
  virtual std::vector<int> numbers_in(const std::string& folder) const = 0;
  // What the files that a process has open are, as the links of /proc/PID/fd say.
  virtual std::vector<std::string> files_of(pid_t process) const = 0;
  // On which nodes pages of the process lie; a negative value: that of an errno. Returns 0, or an errno.
  virtual int query_pages(pid_t process, const std::vector<uint64_t>& pages, std::vector<int>& nodes) const = 0;
};

std::unique_ptr<Kernel> running_kernel();

}  // namespace weft::tools::numa
