// SPDX-License-Identifier: Apache-2.0
// A process that runs on weft answers itself (core/monitor/inspection.h): no right to trace it is needed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "threads/inspector.h"

namespace weft::tools {

// "it runs on another version of weft ...": where the records are others.
inline constexpr char kOtherVersion[] = "it runs on another version of weft: ask by that version's `weft`";

class RunningProcess : public Inspector {
 public:
  // Asks the process for a connection. Null: *fault says why there is none, and what to do.
  static std::unique_ptr<RunningProcess> connect(pid_t process, std::string* fault);
  // Whether the process has a monitor that can be called.
  static bool can_be_asked(pid_t process);
  // What to do about a process that a signal or a debugger has stopped; empty: none has.
  static std::string why_stopped(pid_t process);
  ~RunningProcess() override;

  std::string subject() const override;
  std::string program() const override;
  pid_t process() const override { return process_; }
  bool is_live() const override { return true; }
  std::vector<char> read_some(uint64_t address, size_t size) override;
  bool read(uint64_t address, void* data, size_t size) override;
  std::string maps_file() const override;
  std::vector<pid_t> threads() override;
  SystemThread thread(pid_t number) override;
  std::string name_of_thread(pid_t number) override;
  bool answers() const override { return socket_ >= 0; }

 private:
  RunningProcess(pid_t process, int socket) : process_(process), socket_(socket) {}
  // A file of its /proc/self/task.
  std::optional<std::string> file(pid_t thread, const std::string& name);
  // The bytes that the process sends back; below 0: an errno.
  int64_t ask(const core::InspectionRequest& request, char* data);
  bool receive(void* data, size_t size);
  void give_up();

  const pid_t process_;
  int socket_;
};

}  // namespace weft::tools
