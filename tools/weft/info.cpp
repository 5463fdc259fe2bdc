// SPDX-License-Identifier: Apache-2.0
#include "info.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
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

// What people read in place of a key, and of null.
struct Words {
  const char* key;
  const char* title;
  const char* of_null = "";
};
constexpr char kNoSys[] = "not known (/sys is not there)";
constexpr Words kWords[] = {
    {"packages", "packages", kNoSys},
    {"numa_nodes", "NUMA nodes", kNoSys},
    {"cores", "cores", kNoSys},
    {"hardware_threads", "hardware threads", kNoSys},
    {"affinity_mask", "in the affinity mask"},
    {"cgroup_quota", "cgroup quota", "none"},
    {"used_at_once", "used at once"},
    {"loaded", "weft comes into programs"},
    {"identity_switch", "switch of thread identity"},
    {"rseq", "restartable sequences (rseq)"},
    {"page_size", "page size"},
    {"ulimit_u", "most processes and threads (ulimit -u)", "unlimited"},
    {"ulimit_s_bytes", "stack (ulimit -s), bytes", "unlimited"},
    {"ulimit_v_bytes", "address space (ulimit -v), bytes", "unlimited"},
    {"bound", "threads are bound"},
    {"cpus_of_places", "CPUs of each (first CPU:how many)"},
    {"initial_place", "place of the initial thread"},
    {"openblas_openmp", "OpenBLAS (OpenMP build)"},
    {"openmpi", "Open MPI", "none"},
    {"openmpi_4_1", "Open MPI 4.1", "none"},
    {"mpich", "MPICH and its kin", "none"},
    {"mpi_abi", "the standard's ABI", "none"},
    {"all_mpis", "all MPIs", "none"},
    {"other_runtimes", "OpenMP runtimes beside weft", "none that can be seen"},
    {"openblas", "OpenBLAS"},
    {"libraries", "libraries treated specially"},
    {"mpi", "task-aware MPI (weft run --mpi)"},
    {"collectives", "MPI's collectives on a node (weft run --collectives)"},
    {"commit", "commit", "not known"},
};

Words words_of(const std::string& key) {
  const auto found =
      std::find_if(std::begin(kWords), std::end(kWords), [&](const Words& row) { return key == row.key; });
  return found != std::end(kWords) ? *found : Words{key.c_str(), key.c_str()};
}

Json machine() {
  const Machine machine = look_at_machine();
  const auto known = [](int count) { return count > 0 ? Json(count) : Json(); };
  return {{"packages", known(machine.packages)},
          {"numa_nodes", known(machine.numa_nodes)},
          {"cores", known(machine.cores)},
          {"hardware_threads", known(machine.hardware_threads)}};
}

Json cpus() {
  const platform::CpuBudget budget = platform::cpu_budget();
  const int wanted = base::options().num_cpus;
  Json out;
  out["online"] = sysconf(_SC_NPROCESSORS_ONLN);
  out["affinity_mask"] = budget.affinity;
  out["cgroup_quota"] = budget.quota_millis > 0 ? Json(budget.quota_millis / 1000.0) : Json();
  out["used_at_once"] = wanted > 0 ? wanted : budget.usable;
  return out;
}

Json limit(int which) {
  rlimit now{};
  if (getrlimit(static_cast<__rlimit_resource>(which), &now) != 0 || now.rlim_cur == RLIM_INFINITY) return {};
  return now.rlim_cur;
}

Json system() {
  Json out;
  out["loaded"] = linker_audits() ? "by LD_AUDIT"
                                  : "by LD_PRELOAD (glibc " + glibc_version() +
                                        " audits wrongly before 2.35): what a library opens with RTLD_DEEPBIND or "
                                        "dlmopen stays on its own OpenMP runtime";
  out["identity_switch"] = platform::thread_pointer_method() == platform::ThreadPointerMethod::instruction
                               ? "by an instruction"
                               : "by a system call (the kernel lacks FSGSBASE: nested regions cost more)";
  bool left = false;
  std::thread([&left] { left = platform::leave_rseq(); }).join();
  out["rseq"] = left ? "left by the threads of a region, as it must be"
                     : "threads cannot leave them (a sandbox refuses it, or a C library that is not known): "
                       "allocators with caches per CPU (tcmalloc) need GLIBC_TUNABLES=glibc.pthread.rseq=0";
  out["page_size"] = sysconf(_SC_PAGESIZE);
  out["ulimit_u"] = limit(RLIMIT_NPROC);
  out["ulimit_s_bytes"] = limit(RLIMIT_STACK);
  out["ulimit_v_bytes"] = limit(RLIMIT_AS);
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
  out["bound"] = affinity.on;
  if (!affinity.on) return out;
  std::string text(openmp::format_places(affinity.places, nullptr, 0), ' ');
  openmp::format_places(affinity.places, text.data(), text.size() + 1);
  out["places"] = affinity.places.size();
  out["cpus_of_places"] = text;
  out["initial_place"] = affinity.first;
  return out;
}

Json libraries() {
  Json out;
  out["openblas_openmp"] = base::options().nested_libraries
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
       {std::pair{"openmpi", "libweft-mpi-openmpi.so"}, std::pair{"mpich", "libweft-mpi-mpich.so"},
        std::pair{"mpi_abi", "libweft-mpi-abi.so"}}) {
    const std::filesystem::path library = folder / file;
    out[name] = std::filesystem::exists(library, error) ? Json(library.string()) : Json();
  }
  return out;
}

// Of collectives on a node: loaded as the MPI of the program is.
Json collectives() {
  const Libraries found = find_libraries();
  std::error_code error;
  Json out;
  for (const auto& [name, library] :
       {std::pair{"openmpi_4_1", &found.openmpi_component}, std::pair{"all_mpis", &found.collectives}}) {
    out[name] = std::filesystem::exists(*library, error) ? Json(library->string()) : Json();
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
  out["other_runtimes"] = others.empty() ? Json() : others;
  for (const ProgramRuntimes::Other& copy : found.openblas) out["openblas"][copy.file] = copy.why;
  return out;
}

std::string plain(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

void print_section(const char* title, const Json& section) {
  std::printf("%s\n", title);
  for (const auto& [key, value] : section.items()) {
    const Words words = words_of(key);
    if (!value.is_object()) {
      std::printf("  %-42s %s\n", words.title, value.is_null() ? words.of_null : plain(value).c_str());
      continue;
    }
    std::printf("  %s\n", words.title);
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
      print_section(words_of(title).title, section);
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
                 {"commit", *kCommit != '\0' ? Json(kCommit) : Json()},
                 {"library", find_libraries().runtime.string()}};
  if (!command.empty()) all["program"] = program(wanted);
  all["machine"] = machine();
  all["cpus"] = cpus();
  all["system"] = system();
  if (openmp::affinity_requested(base::options())) all["places"] = places();
  all["environment"] = environment();
  all["libraries"] = libraries();
  all["mpi"] = mpis();
  all["collectives"] = collectives();
  if (json != "-") print(all);
  return json.empty() || file.write(all.dump(2, ' ', false, Json::error_handler_t::replace) + '\n') ? 0 : kFailed;
}

}  // namespace weft::tools
