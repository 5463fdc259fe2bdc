// SPDX-License-Identifier: Apache-2.0
// Reads a process that runs on weft, or has run: what a look at its threads needs of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "core/monitor/inspection.h"

namespace weft::tools {

struct Registers {
  uint64_t program_counter = 0;  // 0: not known
  uint64_t stack_pointer = 0;
  // By DWARF's numbers; the others are not known.
  std::vector<std::pair<int, uint64_t>> others;
};

// An OS thread of the process.
struct SystemThread {
  bool sleeps = false;  // in the system call `call`
  long call = -1;
  std::array<uint64_t, 6> arguments{};
  Registers registers;  // of one that computes only a core file has them
};

class Inspector {
 public:
  virtual ~Inspector() = default;
  Inspector(const Inspector&) = delete;
  Inspector& operator=(const Inspector&) = delete;

  const core::InspectionStart& inspected() const { return inspected_; }

  // What it is, for people: "process 4711".
  virtual std::string subject() const = 0;
  // The name of its program, without a folder.
  virtual std::string program() const = 0;
  virtual pid_t process() const = 0;
  // Whether a later look may find something else.
  virtual bool is_live() const = 0;

  // How many CPUs it may use, where it has no records that say so.
  virtual int cpus() { return 0; }

  // As many of the `size` bytes at `address` as there are; one page after the other.
  virtual std::vector<char> read_some(uint64_t address, size_t size) = 0;
  // false: they are not there, or the process answers no more.
  virtual bool read(uint64_t address, void* data, size_t size) = 0;
  // A file that says what is mapped, as /proc/PID/maps does.
  virtual std::string maps_file() const = 0;

  virtual std::vector<pid_t> threads() = 0;
  virtual SystemThread thread(pid_t number) = 0;
  // Empty: it is not known, or there is no such thread.
  virtual std::string name_of_thread(pid_t number) = 0;

  // Whether it still answers.
  virtual bool answers() const = 0;

 protected:
  Inspector() = default;

  // Whether the process's records are those that this command knows.
  bool has_own_layout() const;

  core::InspectionStart inspected_;
};

}  // namespace weft::tools
