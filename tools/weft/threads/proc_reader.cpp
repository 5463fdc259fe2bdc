// SPDX-License-Identifier: Apache-2.0
#include "threads/proc_reader.h"

#include <algorithm>
#include <cerrno>

#include <sched.h>
#include <signal.h>

#include "proc_file.h"
#include "threads/proc_threads.h"
#include "top/mapped_runtime.h"
#include "top/process_memory.h"

namespace weft::tools {

namespace {

constexpr uint64_t kPage = 4096;

}  // namespace

bool ProcReader::is_on_weft(pid_t process) { return mapped_runtime(process).is_there; }

// The mode of the file says that everybody may. Threads of the kernel have nothing mapped, nor have processes that have
// ended.
bool ProcReader::can_be_read(pid_t process) {
  std::string maps;
  return read_proc_file(process, "maps", maps) && !maps.empty();
}

std::string ProcReader::program() const { return program_of(process_); }

int ProcReader::cpus() {
  cpu_set_t mask;
  return sched_getaffinity(process_, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : 0;
}

std::vector<char> ProcReader::read_some(uint64_t address, size_t size) {
  std::vector<char> data(size);
  size_t got = 0;
  while (got < size) {
    const uint64_t at = address + got;
    const size_t piece = std::min<size_t>(size - got, kPage - at % kPage);
    const MemoryPart part{at, data.data() + got, piece};
    if (read_memory(process_, {&part, 1}) != MemoryRead::whole) break;
    got += piece;
  }
  data.resize(got);
  return data;
}

bool ProcReader::read(uint64_t address, void* data, size_t size) {
  const MemoryPart part{address, data, size};
  return read_memory(process_, {&part, 1}) == MemoryRead::whole;
}

std::string ProcReader::maps_file() const { return in_proc(process_, "maps"); }

std::vector<pid_t> ProcReader::threads() { return threads_of(process_); }

SystemThread ProcReader::thread(pid_t number) {
  const std::string task = "task/" + std::to_string(number);
  std::string text;
  if (read_proc_file(process_, (task + "/syscall").c_str(), text)) return thread_in(text);
  // Only who may trace the process is told that. Whether it sleeps everybody may know.
  SystemThread thread;
  if (!read_proc_file(process_, (task + "/stat").c_str(), text)) return thread;
  const size_t end = text.rfind(") ");
  thread.sleeps = end != std::string::npos && (text[end + 2] == 'S' || text[end + 2] == 'D');
  return thread;
}

std::string ProcReader::name_of_thread(pid_t number) {
  std::string name;
  if (!read_proc_file(process_, ("task/" + std::to_string(number) + "/comm").c_str(), name)) return {};
  if (!name.empty() && name.back() == '\n') name.pop_back();
  return name;
}

bool ProcReader::answers() const { return kill(process_, 0) == 0 || errno == EPERM; }

}  // namespace weft::tools
