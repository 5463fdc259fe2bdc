// SPDX-License-Identifier: Apache-2.0
// A process without a monitor that could answer: it has opened no region of several threads, or is not on weft. What
// its OS threads do is read from outside, as far as the kernel lets the caller.
#pragma once

#include <string>
#include <vector>

#include "threads/inspector.h"

namespace weft::tools {

class ProcReader : public Inspector {
 public:
  explicit ProcReader(pid_t process) : process_(process) {}

  // Whether the process has the runtime, and whether the caller may look at it.
  static bool is_on_weft(pid_t process);
  static bool can_be_read(pid_t process);

  std::string subject() const override { return "process " + std::to_string(process_); }
  std::string program() const override;
  pid_t process() const override { return process_; }
  bool is_live() const override { return true; }
  int cpus() override;
  std::vector<char> read_some(uint64_t address, size_t size) override;
  bool read(uint64_t address, void* data, size_t size) override;
  std::string maps_file() const override;
  std::vector<pid_t> threads() override;
  SystemThread thread(pid_t number) override;
  std::string name_of_thread(pid_t number) override;
  bool answers() const override;

 private:
  const pid_t process_;
};

}  // namespace weft::tools
