// SPDX-License-Identifier: Apache-2.0
#include "doctor/patient.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <thread>

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "library.h"
#include "threads/proc_threads.h"

namespace weft::tools {

namespace {

int64_t limit_of(int process, __rlimit_resource which) {
  rlimit now{};
  if (prlimit(process, which, nullptr, &now) != 0 || now.rlim_cur == RLIM_INFINITY) return -1;
  return static_cast<int64_t>(now.rlim_cur);
}

void look_around(Patient& patient, int process) {
  patient.cpus = platform::cpu_budget();
  patient.online = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  std::array<double, 1> load{};
  if (getloadavg(load.data(), 1) == 1) patient.load = load[0];
  if (patient.load > patient.online) {
    constexpr std::chrono::milliseconds kWindow{300};
    const std::set<pid_t> without{getpid(), process};
    CpuUsers programs;
    programs.look(without);
    std::this_thread::sleep_for(kWindow);
    patient.busiest = programs.look(without);
  }
  patient.stack = limit_of(process, RLIMIT_STACK);
  patient.memory = limit_of(process, RLIMIT_AS);
  patient.threads = limit_of(process, RLIMIT_NPROC);
}

void take_variable(Patient& patient, const std::string& entry) {
  constexpr const char* kPrefixes[] = {"OMP_", "GOMP_",   "KMP_",     "WEFT_", "OPENBLAS_", "GOTO_",  "BLIS_",  "MKL_",
                                       "LD_",  "MALLOC_", "NUMEXPR_", "OMPI_", "PMI_",      "SLURM_", "VECLIB_"};
  const size_t end = entry.find('=');
  if (end == std::string::npos) return;
  const auto begins = [&](const char* prefix) { return entry.starts_with(prefix); };
  if (std::any_of(std::begin(kPrefixes), std::end(kPrefixes), begins))
    patient.variables[entry.substr(0, end)] = entry.substr(end + 1);
}

std::string text_of(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Those that the process was started with. Not by `environ`, which a program that is linked for another libc's version
// has a copy of.
void take_variables(Patient& patient, const std::string& folder) {
  std::istringstream entries(text_of(folder + "/environ"));
  for (std::string entry; std::getline(entries, entry, '\0');) take_variable(patient, entry);
}

// How many CPUs one or another thread may use: those that bind themselves may use few each. 0: it cannot be read.
int cpus_of_threads(int process) {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (const pid_t thread : threads_of(process)) {
    cpu_set_t mask;
    if (sched_getaffinity(thread, sizeof mask, &mask) == 0) CPU_OR(&all, &all, &mask);
  }
  return CPU_COUNT(&all);
}

void look_at_maps(Patient& patient, const std::string& maps) {
  std::istringstream lines(maps);
  for (std::string line; std::getline(lines, line);) {
    const size_t slash = line.rfind('/');
    if (slash == std::string::npos) continue;
    const std::string name = line.substr(slash + 1);
    const bool is_runtime = name.starts_with("libgomp") || name.starts_with("libomp.") || name.starts_with("libomp-") ||
                            name.starts_with("libiomp5");
    if (!is_runtime) continue;
    const std::string path = line.substr(line.find('/'));
    const bool is_weft = path.find("/weft/lib") != std::string::npos || path.find("/weft/_lib") != std::string::npos;
    if (is_weft) patient.is_on_weft = true;
    if (!is_weft) patient.other_runtime = path;
  }
}

}  // namespace

Patient patient_here() {
  Patient patient;
  look_around(patient, 0);
  take_variables(patient, "/proc/self");
  return patient;
}

Patient patient_program(const std::string& name) {
  Patient patient = patient_here();
  patient.program = examine_program(name);
  if (patient.program->path.empty()) return patient;
  patient.runtimes = look_at_runtimes(*patient.program, find_libraries());
  patient.file = look_into_executable(patient.program->path);
  return patient;
}

std::optional<Patient> patient_process(int process, std::string* fault) {
  const std::string folder = "/proc/" + std::to_string(process);
  if (access(folder.c_str(), F_OK) != 0) {
    *fault = "there is no such process";
    return std::nullopt;
  }
  const std::string maps = text_of(folder + "/maps");
  if (maps.empty()) {
    *fault =
        geteuid() == 0 ? "its memory map cannot be read" : "it belongs to another user: ask as that user, or as root";
    return std::nullopt;
  }
  Patient patient;
  look_around(patient, process);
  patient.process = process;
  take_variables(patient, folder);
  if (const int affinity = cpus_of_threads(process); affinity > 0) {
    patient.cpus.affinity = affinity;
    if (text_of(folder + "/cgroup") != text_of("/proc/self/cgroup")) patient.cpus.quota_millis = 0;  // not known
    const int by_quota = (patient.cpus.quota_millis + 999) / 1000;
    patient.cpus.usable = by_quota > 0 ? std::min(by_quota, patient.cpus.affinity) : patient.cpus.affinity;
  }
  look_at_maps(patient, maps);
  return patient;
}

}  // namespace weft::tools
