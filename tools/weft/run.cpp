// SPDX-License-Identifier: Apache-2.0
#include "run.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <unistd.h>

#include "base/message.h"
#include "base/options.h"
#include "dynamic_linker.h"
#include "exit_codes.h"
#include "library.h"
#include "own_openmp.h"
#include "placement.h"
#include "platform/cpus.h"
#include "platform/launcher.h"
#include "platform/static_tls.h"
#include "program.h"
#include "stack_limit.h"

namespace weft::tools {

namespace {

// Whether `value` stands first in what the variable holds.
bool is_first(const char* variable, const std::string& value) {
  const char* before = std::getenv(variable);
  return before != nullptr && (std::string(before) + ":").rfind(value + ":", 0) == 0;
}

// In front of what the variable holds already, unless it stands there: a program on weft may start others by weft.
void prepend(const char* variable, const std::string& value) {
  if (is_first(variable, value)) return;
  const char* before = std::getenv(variable);
  const std::string whole = before != nullptr && *before != '\0' ? value + ":" + before : value;
  setenv(variable, whole.c_str(), 1);
}

// Behind what the variable holds already, unless it is there.
void append(const char* variable, const std::string& value) {
  const char* before = std::getenv(variable);
  if (before == nullptr || *before == '\0') {
    setenv(variable, value.c_str(), 1);
  } else if ((":" + std::string(before) + ":").find(":" + value + ":") == std::string::npos) {
    setenv(variable, (std::string(before) + ":" + value).c_str(), 1);
  }
}

// Has the dynamic linker ask weft's audit library, and leaves the room that this takes from thread-local data: more
// than the user wants, once, also when a program on weft starts others by weft.
void audit(const std::string& library) {
  const char* tunables = std::getenv(platform::kTunables);
  const unsigned long wanted = platform::static_tls(tunables);
  const bool done = is_first("LD_AUDIT", library) && wanted >= platform::kUsualStaticTls + platform::kLinkedStaticTls;
  prepend("LD_AUDIT", library);
  if (done) return;
  std::string more(platform::room_for_static_tls(tunables), '\0');
  platform::with_static_tls(tunables, wanted + platform::kLinkedStaticTls, more.data());
  setenv(platform::kTunables, more.c_str(), 1);
}

bool set(const std::string& setting) {
  const size_t equals = setting.find('=');
  if (equals == std::string::npos || equals == 0) {
    base::warn("--set %s: NAME=VALUE is wanted", setting.c_str());
    return false;
  }
  return setenv(setting.substr(0, equals).c_str(), setting.c_str() + equals + 1, 1) == 0;
}

// The runtime that the user names: by its whole path, since programs may go elsewhere before they look for it.
bool find_runtime(const std::string& wanted, std::string& library) {
  std::error_code error;
  library = std::filesystem::absolute(wanted, error).lexically_normal();
  const char* fault = nullptr;
  if (error) {
    fault = "has no whole path";
  } else if (access(library.c_str(), R_OK) != 0) {
    fault = std::strerror(errno);
  } else if (!std::filesystem::is_regular_file(library, error)) {
    fault = "is no file";
  }
  if (fault != nullptr) base::warn("--library %s: %s", wanted.c_str(), fault);
  return fault == nullptr;
}

// What separates names in LD_PRELOAD and LD_AUDIT cannot be in them; words that begin with `$` have a meaning there.
bool can_be_listed(const std::string& library, std::string separators) {
  if (library.find_first_of(separators + "$") == std::string::npos) return true;
  base::warn(
      "%s: the dynamic linker takes no library with a colon, a dollar sign or, preloaded, a space in its path; install "
      "weft elsewhere",
      library.c_str());
  return false;
}

// A part of weft that every installation has.
bool is_there(const std::string& library) {
  if (access(library.c_str(), R_OK) == 0) return true;
  base::warn("%s: %s; build or install weft again", library.c_str(), std::strerror(errno));
  return false;
}

// What an option needs, or its variable: that then counts for nothing.
bool has_library(const std::string& library, const char* name, bool by_variable) {
  if (access(library.c_str(), R_OK) == 0) return can_be_listed(library, ": \t\n");
  base::warn("%s: %s: %s; build or install weft again%s", name, library.c_str(), std::strerror(errno),
             instead(by_variable));
  return false;
}

bool preload_mpi(const std::string& library, bool by_variable) {
  if (!has_library(library, by_variable ? "WEFT_MPI" : "--mpi", by_variable)) return false;
  // Tools that count MPI's calls come first: they see the program's calls, and the library pauses in what they call.
  append("LD_PRELOAD", library);
  return true;
}

// A library before MPI takes its names, and finds out whose MPI it is. Open MPI of the version that it was built for
// loads the component instead, from the folder, in which it looks beside its own; whoever names folders keeps them. It
// stops at the first that is not there, so the own one is first.
bool use_collectives(const Libraries& found, bool by_variable) {
  if (!has_library(found.collectives, by_variable ? "WEFT_COLLECTIVES" : "--collectives", by_variable)) return false;
  append("LD_PRELOAD", found.collectives);
  if (access(found.openmpi_component.c_str(), R_OK) == 0) {
    const std::string folder = found.openmpi_component.parent_path();
    if (!can_be_listed(folder, ":")) return false;
    constexpr char kPath[] = "OMPI_MCA_mca_base_component_path";
    const char* before = std::getenv(kPath);
    if (before == nullptr || *before == '\0') setenv(kPath, "SYSTEM_DEFAULT:USER_DEFAULT", 1);
    prepend(kPath, folder);
  }
  return true;
}

void load_tool(const std::string& tool) {
  setenv("OMP_TOOL", "enabled", 1);
  prepend("OMP_TOOL_LIBRARIES", tool);
}

// What the recorder of the program is to leave: no more than is asked for here, where another command has run this one.
void set_recorder(const RunOptions& options, const std::string& tool) {
  unsetenv("WEFT_TRACE_FILE");
  unsetenv("WEFT_PROFILE_FOLDER");
  // The program may be somewhere else when it ends.
  std::error_code error;
  if (!options.trace.empty()) setenv("WEFT_TRACE_FILE", std::filesystem::absolute(options.trace, error).c_str(), 1);
  if (!options.profile.empty()) setenv("WEFT_PROFILE_FOLDER", options.profile.c_str(), 1);
  load_tool(tool);
}

// The audit library says it of every program that runs under it; by LD_PRELOAD there is none.
void say_own_openmp(const std::string& path) {
  const std::string archive = own_openmp(path);
  if (archive.empty()) return;
  base::warn(
      "%s has an OpenMP runtime inside (%s): its own regions run on that, beside weft; link it with the shared one",
      path.c_str(), archive.c_str());
}

// Of a job, rank 0 speaks for all.
bool speaks_for_job() {
  const char* rank = platform::rank_by_launcher();
  return rank == nullptr || std::strcmp(rank, "0") == 0;
}

void say_own_mpi(const std::string& path) {
  if (!speaks_for_job() || !has_own_mpi(path)) return;
  base::warn("%s has an MPI inside: --mpi and --collectives do nothing; link it with the shared one", path.c_str());
}

// Some want that, as to see how a program behaves with more CPUs.
void say_too_many_cpus(int wanted) {
  const int usable = platform::cpu_budget().usable;
  if (wanted <= usable) return;
  base::warn("--cpus %d: the program may use %d here (affinity mask, cgroup); threads for more take turns on %s",
             wanted, usable, usable == 1 ? "it" : "them");
}

// Without the libraries the report of collectives would say nothing, and not why. The user may have put them in place
// by other means: then nothing is to be said.
void say_unreported(const Libraries& found) {
  // Looked for first: to read all settings warns of those that cannot be used, as the program's runtime will.
  if (std::getenv("WEFT_COLLECTIVES_REPORT") == nullptr || !base::options().collectives_report) return;
  if (!speaks_for_job()) return;
  const char* components = std::getenv("OMPI_MCA_mca_base_component_path");
  const char* preloaded = std::getenv("LD_PRELOAD");
  const std::string folder = found.openmpi_component.parent_path();
  if (components != nullptr && std::string(components).find(folder) != std::string::npos) return;
  if (preloaded != nullptr && std::string(preloaded).find(found.collectives.filename()) != std::string::npos) return;
  base::warn(
      "WEFT_COLLECTIVES_REPORT: weft's collectives are not loaded, so there is no report: weft run --collectives");
}

}  // namespace

int prepare(const RunOptions& options, Program& program) {
  for (const std::string& setting : options.settings) {
    if (!set(setting)) return kUsage;
  }
  const auto& by_variable = options.by_variable;
  if (!options.numa.empty() && !place(options.numa, by_variable.numa) && !by_variable.numa) return kUsage;
  program = examine_program(options.command.front());
  std::string library;
  const bool preloads = options.preload || !linker_audits();
  if (program.complaint.empty()) {
    const Libraries found = find_libraries();
    library = found.runtime;
    if (!options.runtime.empty() && !find_runtime(options.runtime, library)) return kUsage;
    examine_versions(program, found, library, preloads);
  }
  if (!program.complaint.empty()) base::warn("%s", program.complaint.c_str());
  if (program.path.empty()) return program.exit_code;
  if (program.complaint.empty()) {
    leave_room_for_linker();
    const Libraries found = find_libraries();
    setenv("WEFT_LIBRARY", library.c_str(), 1);
    if (preloads) {
      constexpr char kSeparators[] = ": \t\n";
      if (!is_there(found.preload)) return kFailed;
      if (!can_be_listed(library, kSeparators) || !can_be_listed(found.preload, kSeparators)) return kUsage;
      prepend("LD_PRELOAD", found.preload.string() + ":" + library);  // so that the runtime is initialized first
      say_own_openmp(program.path);
    } else {
      if (!can_be_listed(found.audit, ":")) return kUsage;
      audit(found.audit);
    }
    // Before the library of --mpi, to which it leaves what it does not take.
    const bool collectives = options.collectives && use_collectives(found, by_variable.collectives);
    if (options.collectives && !collectives && !by_variable.collectives) return kUsage;
    if (!collectives) say_unreported(found);
    if (options.mpi && !preload_mpi(found.mpi, by_variable.mpi) && !by_variable.mpi) return kUsage;
    if (options.mpi || options.collectives) say_own_mpi(program.path);
    if (!found.python.empty()) prepend("PYTHONPATH", found.python);
    const bool records = !options.trace.empty() || !options.profile.empty();
    if (records && !is_there(found.observe)) return kFailed;
    if (records) set_recorder(options, found.observe);
    if (!options.stats.empty()) {
      setenv("WEFT_STATS", options.stats == "all" ? "all" : "1", 1);
      // The program keeps the number of this process. What it starts has others.
      setenv("WEFT_RUN_PROCESS", std::to_string(getpid()).c_str(), 1);
    }
    if (options.reproducible) setenv("WEFT_REPRODUCIBLE", "true", 1);
    if (options.node) setenv("WEFT_NODE", "1", 1);
    if (options.weight > 0) setenv("WEFT_WEIGHT", std::to_string(options.weight).c_str(), 1);
    if (options.cpus > 0) {
      say_too_many_cpus(options.cpus);
      setenv("WEFT_NUM_CPUS", std::to_string(options.cpus).c_str(), 1);
    }
    if (!options.mode.empty()) setenv("WEFT_MODE", options.mode.c_str(), 1);
    if (options.factor > 0) setenv("WEFT_STATIC_FACTOR", std::to_string(options.factor).c_str(), 1);
  }
  return 0;
}

int run(const RunOptions& options) {
  Program program;
  if (const int fault = prepare(options, program); fault != 0) return fault;
  std::vector<char*> arguments;
  for (const std::string& argument : options.command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execv(program.path.c_str(), arguments.data());
  const int error = errno;
  if (error == ENOEXEC && is_text(program.path)) run_by_shell(program.path, arguments);
  base::warn("%s: %s", program.path.c_str(), std::strerror(error));
  return kCannotExecute;
}

}  // namespace weft::tools
