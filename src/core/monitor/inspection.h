// SPDX-License-Identifier: Apache-2.0
// What `weft threads PID` reads of a process that runs on weft (docs/explanation/inspection.md). The process serves its
// own memory and files of /proc/self: so no right to trace it is needed, and a process that hangs answers as well as
// any. `weft top` reads the same records by process_vm_readv, where the kernel lets it.
//
// The inspector listens on a socket of the abstract namespace, named after its process number, and calls the monitor
// (platform/service_call.h). A thread of the process connects, sends an InspectionStart, and then answers each
// InspectionRequest by an InspectionAnswer and that many bytes, until the inspector closes the connection.
//
// The inspector knows the records by the same headers. `layout` tells it that they are the same.
#pragma once

#include <array>
#include <cstdint>

#include <sys/types.h>

namespace weft::core {

// "weft-inspector-PID", behind a zero byte.
inline constexpr char kInspectorName[] = "weft-inspector-";
// The names of the monitor's thread, and of the one that answers.
inline constexpr char kMonitorName[] = "weft-monitor";
inline constexpr char kInspectedName[] = "weft-inspected";

struct InspectionStart {
  static constexpr std::array<char, 8> kMagic{'w', 'e', 'f', 't', '-', 'i', 'n', '3'};

  std::array<char, 8> magic = kMagic;
  uint64_t layout = 0;  // kCoreLayout ^ InspectionSettings::layout
  // Addresses: of some code of the runtime, of core's pool, and of the lists of parked contexts.
  uint64_t code = 0;
  uint64_t pool = 0;
  uint64_t parked = 0;
  // Where the pointers to the current member lie, from the thread pointer (openmp/team/team.cpp).
  std::array<int64_t, 2> members{};
  // Addresses of two numbers of core/sched/polling.h: which services want to be called, and how many arrivals they wait
  // for.
  uint64_t wanted = 0;
  uint64_t pending = 0;
  // Whose records these are: the child of a fork has those of its parent until it has a pool itself.
  int64_t process = 0;
};

struct InspectionRequest {
  // Bytes of memory at `address`; or, where `file` is not empty, of that file of /proc/self, from offset `address` on:
  // task/NUMBER/comm or task/NUMBER/syscall.
  uint64_t address = 0;
  uint32_t size = 0;
  std::array<char, 52> file{};
};

struct InspectionAnswer {
  int64_t size = 0;  // of the bytes that follow; negative: of an errno
};

inline constexpr uint32_t kMostInspected = 64 * 1024;  // bytes of a request

// Writes down the InspectionStart, once there is a pool: for those who ask, and for those who read a core file.
void let_be_inspected() noexcept;

// Called by the monitor when process `inspector` has called it: starts a thread that answers. Eight at a time are
// served.
void answer_inspector(pid_t inspector) noexcept;

// In the child of a fork: nobody is served.
void forget_inspectors() noexcept;

}  // namespace weft::core
