// SPDX-License-Identifier: Apache-2.0
// Reads a process that runs on weft, which answers itself (core/monitor/inspection.h): no right to trace it is needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "core/monitor/inspection.h"

namespace weft::tools {

class Inspector {
 public:
  // Asks the process for a connection. Null: *fault says why there is none, and what to do.
  static std::unique_ptr<Inspector> connect(pid_t process, std::string* fault);
  // Whether the process has a monitor that can be called.
  static bool can_be_asked(pid_t process);
  ~Inspector();
  Inspector(const Inspector&) = delete;
  Inspector& operator=(const Inspector&) = delete;

  const core::InspectionStart& inspected() const { return inspected_; }

  // `size` bytes at `address`; false: they are not mapped, or the process answers no more.
  bool read(uint64_t address, void* data, size_t size);
  // As many of them as there are; one page after the other.
  std::vector<char> read_some(uint64_t address, size_t size);
  // A file of its /proc/self.
  std::optional<std::string> file(const std::string& name);

  // Whether it still answers.
  bool answers() const { return socket_ >= 0; }

 private:
  explicit Inspector(int socket) : socket_(socket) {}
  // The bytes that the process sends back; below 0: an errno.
  int64_t ask(const core::InspectionRequest& request, char* data);
  bool receive(void* data, size_t size);
  void give_up();

  int socket_;
  core::InspectionStart inspected_;
};

}  // namespace weft::tools
