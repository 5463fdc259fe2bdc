// SPDX-License-Identifier: Apache-2.0
#include "info.h"

#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>

#include <sys/resource.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "base/message.h"
#include "base/options.h"
#include "dynamic_linker.h"
#include "exit_codes.h"
#include "library.h"
#include "machine.h"
#include "openmp/affinity/affinity.h"
#include "platform/cpus.h"
#include "platform/rseq.h"
#include "platform/thread_pointer.h"
#include "program.h"
#include "program_runtimes.h"
#include "report_file.h"
#include "version.h"

namespace weft::tools {

namespace {

using Json = nlohmann::ordered_json;

Json machine() {
  const Machine machine = look_at_machine();
  const auto known = [](int count) { return count > 0 ? Json(count) : Json("not known (/sys is not there)"); };
  return {{"packages", known(machine.packages)},
          {"NUMA nodes", known(machine.numa_nodes)},
          {"cores", known(machine.cores)},
          {"hardware threads", known(machine.hardware_threads)}};
}

Json cpus() {
  const platform::CpuBudget budget = platform::cpu_budget();
  const int wanted = base::options().num_cpus;
  Json out;
  out["online"] = sysconf(_SC_NPROCESSORS_ONLN);
  out["in the affinity mask"] = budget.affinity;
  if (budget.quota_millis > 0) {
    out["cgroup quota"] = budget.quota_millis / 1000.0;
  } else {
    out["cgroup quota"] = "none";
  }
  out["used at once"] = wanted > 0 ? wanted : budget.usable;
  return out;
}

Json limit(int which) {
  rlimit now{};
  if (getrlimit(static_cast<__rlimit_resource>(which), &now) != 0 || now.rlim_cur == RLIM_INFINITY) return "unlimited";
  return now.rlim_cur;
}

Json system() {
  Json out;
  out["weft comes into programs"] = linker_audits()
                                        ? "by LD_AUDIT"
                                        : "by LD_PRELOAD (glibc " + glibc_version() +
                                              " audits wrongly before 2.35): what a library opens with RTLD_DEEPBIND "
                                              "or dlmopen stays on its own OpenMP runtime";
  out["switch of thread identity"] = platform::thread_pointer_method() == platform::ThreadPointerMethod::instruction
                                         ? "by an instruction"
                                         : "by a system call (the kernel lacks FSGSBASE: nested regions cost more)";
  bool left = false;
  std::thread([&left] { left = platform::leave_rseq(); }).join();
  out["restartable sequences (rseq)"] =
      left ? "left by the threads of a region, as it must be"
           : "threads cannot leave them (a sandbox refuses it, or a C library that is not known): "
             "allocators with caches per CPU (tcmalloc) need GLIBC_TUNABLES=glibc.pthread.rseq=0";
  out["page size"] = sysconf(_SC_PAGESIZE);
  out["most processes and threads (ulimit -u)"] = limit(RLIMIT_NPROC);
  out["stack (ulimit -s), bytes"] = limit(RLIMIT_STACK);
  out["address space (ulimit -v), bytes"] = limit(RLIMIT_AS);
  return out;
}

Json environment() {
  Json out;
  for (int i = 0; i < base::kOptionCount; ++i) {
    const base::OptionRow row = base::option_row(i);
    Json entry;
    entry["value"] = row.text != nullptr ? Json(row.text) : Json(nullptr);
    entry["from"] = row.text != nullptr ? "environment" : "default";
    entry["meaning"] = row.help;
    out[row.variable] = entry;
  }
  return out;
}

// Where threads are bound, by the variables that are set.
Json places() {
  const openmp::Affinity& affinity = openmp::affinity();
  Json out;
  out["threads are bound"] = affinity.on;
  if (!affinity.on) return out;
  std::string text(openmp::format_places(affinity.places, nullptr, 0), ' ');
  openmp::format_places(affinity.places, text.data(), text.size() + 1);
  out["places"] = affinity.places.size();
  out["CPUs of each (first CPU:how many)"] = text;
  out["place of the initial thread"] = affinity.first;
  return out;
}

Json libraries() {
  Json out;
  out["OpenBLAS (OpenMP build)"] = base::options().nested_libraries
                                       ? "its calls inside a parallel region use CPUs that are idle there"
                                       : "left alone (WEFT_NESTED_LIBRARIES=false)";
  return out;
}

// Of task-aware MPI: the library that is loaded where a program uses an MPI with that ABI.
Json mpis() {
  const std::filesystem::path folder = find_libraries().mpi.parent_path();
  std::error_code error;
  Json out;
  for (const auto& [name, file] :
       {std::pair{"Open MPI", "libweft-mpi-openmpi.so"}, std::pair{"MPICH and its kin", "libweft-mpi-mpich.so"},
        std::pair{"the standard's ABI", "libweft-mpi-abi.so"}}) {
    const std::filesystem::path library = folder / file;
    out[name] = std::filesystem::exists(library, error) ? library.string() : "none";
  }
  return out;
}

// Of collectives on a node: loaded as the MPI of the program is.
Json collectives() {
  const Libraries found = find_libraries();
  std::error_code error;
  Json out;
  for (const auto& [name, library] :
       {std::pair{"Open MPI 4.1", &found.openmpi_component}, std::pair{"all MPIs", &found.collectives}}) {
    out[name] = std::filesystem::exists(*library, error) ? library->string() : "none";
  }
  return out;
}

// Whether its OpenMP would run on weft.
Json program(const Program& program) {
  const ProgramRuntimes found = look_at_runtimes(program, find_libraries());
  Json out;
  out["file"] = program.path;
  if (!program.complaint.empty()) {
    out["weft"] = program.complaint.substr(program.path.size() + 1);
  } else if (!program.interpreter.empty()) {
    out["weft"] = "a script, run by " + program.interpreter + ": weft is in that and in all that it starts; " +
                  "`weft run --stats` says what ran on weft";
    return out;
  } else if (!found.known) {
    out["weft"] = "the dynamic linker does not say what the program is linked with (try ldd)";
  } else if (found.on_weft) {
    out["weft"] = "the program, or a library that it is linked with, asks for an OpenMP runtime, and gets weft's";
  } else {
    out["weft"] =
        "nothing that it is linked with asks for an OpenMP runtime; what it opens while it runs gets weft's "
        "(weft run --stats)";
  }
  Json others = Json::object();
  for (const ProgramRuntimes::Other& other : found.others) others[other.file] = other.why;
  out["OpenMP runtimes beside weft"] = others.empty() ? Json("none that can be seen") : others;
  for (const ProgramRuntimes::Other& copy : found.openblas) out["OpenBLAS"][copy.file] = copy.why;
  return out;
}

std::string plain(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

void print_section(const char* title, const Json& section) {
  std::printf("%s\n", title);
  for (const auto& [name, value] : section.items()) {
    if (!value.is_object()) {
      std::printf("  %-42s %s\n", name.c_str(), plain(value).c_str());
      continue;
    }
    std::printf("  %s\n", name.c_str());
    for (const auto& [inner, text] : value.items()) std::printf("    %s: %s\n", inner.c_str(), plain(text).c_str());
  }
}

void print_environment(const Json& section) {
  std::printf("environment (set variables; `weft info --json -` lists all)\n");
  bool any = false;
  for (const auto& [name, entry] : section.items()) {
    if (entry["value"].is_null()) continue;
    any = true;
    std::printf("  %-42s %s\n", name.c_str(), plain(entry["value"]).c_str());
  }
  if (!any) std::printf("  none: defaults hold\n");
}

void print(const Json& all) {
  for (const auto& [title, section] : all.items()) {
    if (title == "environment") {
      print_environment(section);
    } else {
      print_section(title.c_str(), section);
    }
  }
}

}  // namespace

int info(const std::string& json, const std::vector<std::string>& command) {
  Program wanted;
  if (!command.empty()) {
    wanted = examine_program(command.front());
    if (wanted.path.empty()) {
      base::warn("%s", wanted.complaint.c_str());
      return wanted.exit_code;
    }
    const Libraries found = find_libraries();
    if (wanted.complaint.empty()) examine_versions(wanted, found, found.runtime, !linker_audits());
  }
  ReportFile file("info", "--json", json);
  if (!file.good()) return kFailed;
  Json all;
  all["weft"] = {{"version", kVersion},
                 {"commit", *kCommit != '\0' ? kCommit : "not known"},
                 {"library", find_libraries().runtime.string()}};
  if (!command.empty()) all["program"] = program(wanted);
  all["machine"] = machine();
  all["cpus"] = cpus();
  all["system"] = system();
  if (openmp::affinity_requested(base::options())) all["places"] = places();
  all["environment"] = environment();
  all["libraries treated specially"] = libraries();
  all["task-aware MPI (weft run --mpi)"] = mpis();
  all["MPI's collectives on a node (weft run --collectives)"] = collectives();
  if (json != "-") print(all);
  return json.empty() || file.write(all.dump(2, ' ', false, Json::error_handler_t::replace) + '\n') ? 0 : kFailed;
}

}  // namespace weft::tools
