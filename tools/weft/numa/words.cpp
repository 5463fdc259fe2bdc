// SPDX-License-Identifier: Apache-2.0
#include "numa/words.h"

#include <cerrno>
#include <cstring>
#include <iterator>

namespace weft::tools::numa {

std::string policy_text(const RecordedArray& array) {
  static constexpr const char* kNames[] = {"default", "preferred", "bind",      "interleave",
                                           "local",   "preferred", "interleave"};
  if (array.policy < 0 || array.policy >= static_cast<int>(std::size(kNames))) return "not known";
  std::string text = kNames[array.policy];
  std::string nodes;
  for (int node = 0; node < 32; ++node) {
    if ((array.policy_nodes >> node & 1) != 0) nodes += (nodes.empty() ? "" : ",") + std::to_string(node);
  }
  return nodes.empty() ? text : text + ":" + nodes;
}

const char* how_text(weft::numa::How how) {
  switch (how) {
    case weft::numa::How::malloc: return "malloc";
    case weft::numa::How::calloc: return "calloc";
    case weft::numa::How::realloc: return "realloc";
    case weft::numa::How::aligned: return "aligned";
    case weft::numa::How::mapped: return "mmap";
  }
  return "?";
}

namespace {

void note_what_the_kernel_does_not_tell(const Evidence& evidence, Report& report) {
  const bool sees_faults = evidence.why_no_faults.empty();
  if (!sees_faults) {
    report.notes.push_back(std::string("who touches memory ") + (evidence.samples > 0 ? "first " : "") +
                           "is not known: page faults are not seen here (" + evidence.why_no_faults +
                           "). weft numa --protect finds it out by other means");
  }
  if (!sees_faults || evidence.samples > 0 || report.nodes.size() < 2) return;
  report.notes.push_back(
      "who uses memory after its first touch is not known, but for what automatic balancing asks (it is " +
      std::string(evidence.balancing.enabled ? "on" : "off") + "): there are no memory samples (" +
      (evidence.why_no_samples.empty() ? "none has told an address" : evidence.why_no_samples) +
      "). weft numa --protect finds it out by protecting pages now and then");
}

}  // namespace

std::vector<std::string> sources_of(const Evidence& evidence) {
  std::vector<std::string> sources;
  const bool refused = evidence.query_error != 0 || evidence.recorded.query_error != 0;
  if (!refused) sources.emplace_back("move_pages");
  if (!evidence.numa_maps.empty()) sources.emplace_back("numa_maps");
  if (evidence.means == Means::protection) sources.emplace_back("protection");
  if (evidence.means == Means::kernel && evidence.why_no_faults.empty()) sources.emplace_back("page_faults");
  if (evidence.samples > 0) sources.emplace_back("memory_samples");
  return sources;
}

void add_notes(const Kernel& kernel, const Evidence& evidence, Report& report) {
  const Recorded& recorded = evidence.recorded;
  const auto note = [&](std::string text) { report.notes.push_back(std::move(text)); };
  if (!kernel.nodes().known())
    note("the kernel knows no NUMA nodes (/sys/devices/system/node): all memory is one node");
  const int error = evidence.has_record && recorded.query_error != 0 ? recorded.query_error : evidence.query_error;
  if (error != 0) {
    note(std::string("the nodes of pages are not known: move_pages: ") + std::strerror(error) +
         (error == EPERM || error == ENOSYS ? " (a sandbox may forbid it: SYS_NICE allows it in containers)" : ""));
  }
  if (!evidence.has_record) {
    note("the process was not started by weft numa: who touches its memory, and where it was allocated, is not known");
    return;
  }
  if (evidence.means == Means::kernel) note_what_the_kernel_does_not_tell(evidence, report);
  using weft::numa::Stop;
  switch (recorded.stop) {
    case Stop::none: break;
    case Stop::asked:
      if (evidence.means == Means::none) note("touches were not looked for (--touch off)");
      break;
    case Stop::past_libc:
      note("no page was protected: the system calls of the program do not go through the C library (Go)");
      break;
    case Stop::own_handler: note("touches were sampled until the program handled a fault (SIGSEGV) of its own"); break;
    case Stop::peers:
      note("touches were not sampled: others reach into the memory of the program (MPI, RDMA, a GPU or io_uring)");
      break;
    case Stop::foreign_handler:
      note("touches were sampled until the program set a handler of SIGSEGV by a system call of its own");
      break;
    case Stop::full: note("touches were sampled until there was no more room for them"); break;
    case Stop::no_thread: note("touches were not sampled: the thread for it could not be started"); break;
    case Stop::small_stack:
      note("touches were sampled until the program set a stack for handlers (sigaltstack) that is too small for them");
      break;
    case Stop::sandbox: note("the program was looked at until it gave up system calls (seccomp)"); break;
    case Stop::namespaces:
      note("touches were sampled until the program changed its namespaces, which no other thread may see");
      break;
    case Stop::locked: note("touches were sampled until the program locked its memory (mlockall)"); break;
  }
  // Some calls at the wrong moment matter little.
  if (recorded.rounds > 0 && 4 * recorded.paused >= recorded.rounds) {
    note("touches were not sampled in " + std::to_string(recorded.paused) + " of " + std::to_string(recorded.rounds) +
         " rounds: a thread was in a system call of which it is not known what memory it accesses");
  }
  if (recorded.lost > 0) {
    note(std::to_string(recorded.lost) + " arrays are missing here: " +
         (recorded.full ? "there was no room for them on the disk" : "there were too many at once"));
  }
  if (recorded.left_out > 0) {
    note(std::to_string(recorded.left_out) +
         " allocations were left out: to look at all of them would have slowed the program down");
  }
  if (recorded.ended == 0 && !evidence.running)
    note("the program has not ended by itself, by exit() or a return from main: pages are as they were last seen");
}

}  // namespace weft::tools::numa
