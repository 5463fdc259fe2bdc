// SPDX-License-Identifier: Apache-2.0
#include "doctor/doctor.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include <nlohmann/json.hpp>

#include "base/message.h"
#include "base/options.h"
#include "doctor/patient.h"
#include "dynamic_linker.h"
#include "exit_codes.h"
#include "own_openmp.h"
#include "report_file.h"
#include "suggestion.h"

#ifdef WEFT_HAS_LIBDW
#include "symbols/libdw.h"
#endif

namespace weft::tools {

namespace {

struct Finding {
  std::string what;
  std::string mend;
};
using Findings = std::vector<Finding>;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

// ---- in the order of their likelihood ----

void check_runtime(const Patient& patient, Findings& found) {
  if (patient.process != 0) {
    const std::string process = "process " + std::to_string(patient.process);
    const std::string* auditors = patient.variable("LD_AUDIT");
    const bool by_weft = auditors != nullptr && auditors->find("weft-audit") != std::string::npos;
    if (!patient.is_on_weft && patient.other_runtime.empty() && by_weft)
      found.push_back({process + " was started by weft, and nothing in it has asked for an OpenMP runtime so far",
                       "where that is linked into the program: weft info -- PROGRAM says so"});
    else if (!patient.is_on_weft && patient.other_runtime.empty())
      found.push_back({process + " has no OpenMP runtime, weft's neither", "start it by: weft run PROGRAM"});
    else if (!patient.is_on_weft)
      found.push_back({process + " runs on " + patient.other_runtime, "start it by: weft run PROGRAM"});
    else if (!patient.other_runtime.empty())
      found.push_back(
          {process + " has another OpenMP runtime beside weft, which takes CPUs of its own: " + patient.other_runtime,
           "start it by `weft run`, without --preload where it opens libraries by dlmopen"});
    return;
  }
  if (!patient.program) return;
  const Program& program = *patient.program;
  if (!program.complaint.empty()) {
    found.push_back({program.complaint, "build it for this machine, linked dynamically, or run it without weft"});
    return;
  }
  for (const ProgramRuntimes::Other& other : patient.runtimes.others) {
    found.push_back({other.file + ": an OpenMP runtime beside weft (" + other.why + ")",
                     "link with -fopenmp alone: without -static, libgomp.a or libomp.a"});
  }
  if (has_own_mpi(program.path))
    found.push_back({program.path + ": an MPI is linked into it; --mpi and --collectives cannot see it",
                     "link with the shared MPI: mpicc without -static"});
}

bool is_on_node(const Patient& patient) {
  const std::string* node = patient.variable("WEFT_NODE");
  return node != nullptr && base::judge("WEFT_NODE", node->c_str()) == base::Verdict::good && *node != "false";
}

// In a job of Slurm a task has the CPUs that it has asked for, and no way to more beside them.
void check_affinity(const Patient& patient, Findings& found) {
  const int allowed = patient.cpus.affinity;
  if (allowed >= patient.online) return;
  const std::string what =
      "the affinity mask allows " + std::to_string(allowed) + " of " + std::to_string(patient.online) + " CPUs";
  if (patient.variable("SLURM_JOB_ID") == nullptr) {
    found.push_back({what, "if that is not meant: mpirun --bind-to none, srun --cpu-bind=none, or no taskset"});
    return;
  }
  const std::string* asked = patient.variable("SLURM_CPUS_PER_TASK");
  if (asked == nullptr) {
    found.push_back({what + ", in a job of Slurm", "if that is not meant: srun or sbatch --cpus-per-task=N"});
  } else if (allowed < std::strtol(asked->c_str(), nullptr, 10)) {
    found.push_back(
        {what + ", and the job has asked for " + *asked + " per task",
         "srun --cpus-per-task=" + *asked + "; with mpirun: --bind-to none, or --map-by slot:PE=" + *asked});
  }
}

void check_cpus(const Patient& patient, Findings& found) {
  const platform::CpuBudget& cpus = patient.cpus;
  if (cpus.quota_millis > 0 && cpus.quota_millis < 1000 * cpus.affinity) {
    found.push_back({"a quota of the control group allows " + number(cpus.quota_millis / 1000.0) + " of " +
                         std::to_string(cpus.affinity) +
                         " CPUs; weft runs as many threads as fit into it, other runtimes one for each CPU",
                     "a larger quota: docker run --cpus N; resources.limits.cpu of the pod; CPUQuota= of the unit"});
  }
  check_affinity(patient, found);
  if (patient.load > 1.2 * patient.online) {
    const std::string names = shown(patient.busiest);
    found.push_back({"other programs are at work: " + number(patient.load) + " threads for " +
                         std::to_string(patient.online) + " CPUs over the last minute" +
                         (names.empty() ? "" : "; now: " + names),
                     is_on_node(patient) ? "those on weft by `weft run --node` too; weft top says which these are"
                                         : "run yours by `weft run --node`, all of them: then they share the CPUs"});
  }
}

std::vector<std::string> names_of_variables() {
  std::vector<std::string> names;
  for (int i = 0; i < base::kOptionCount; ++i) names.emplace_back(base::option_row(i).variable);
  return names;
}

// Values that the runtime warns of and does not use.
void check_values(const Patient& patient, Findings& found) {
  for (const auto& [name, value] : patient.variables) {
    const base::Verdict verdict = base::judge(name.c_str(), value.c_str());
    const bool is_ours = name.starts_with("WEFT_") || name.starts_with("OMP_");
    const bool is_unknown = is_ours && verdict == base::Verdict::no_such_variable;
    const std::string meant = is_unknown ? suggestion(name, names_of_variables()) : "";
    if (!meant.empty()) {
      found.push_back({name + '=' + value + ": there is no such variable", meant});
    } else if (verdict == base::Verdict::bad_value) {
      const base::Accepted accepted = base::accepted_values(name.c_str());
      const std::string wanted = accepted.words != nullptr ? accepted.words
                                                           : "a number from " + std::to_string(accepted.least) +
                                                                 " to " + std::to_string(accepted.most);
      found.push_back({name + '=' + value + ": no value that it can have; the default holds", wanted});
    }
  }
}

// Numbers of threads that were right for another runtime.
void check_counts(const Patient& patient, Findings& found) {
  constexpr const char* kCounts[] = {"OMP_NUM_THREADS",  "OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "MKL_NUM_THREADS",
                                     "BLIS_NUM_THREADS", "NUMEXPR_NUM_THREADS",  "OMP_THREAD_LIMIT"};
  for (const char* name : kCounts) {
    const std::string* value = patient.variable(name);
    if (value == nullptr) continue;
    const long count = std::strtol(value->c_str(), nullptr, 10);
    if (count > 0 && count < patient.cpus.usable && value->find(',') == std::string::npos) {
      found.push_back({std::string(name) + '=' + *value + ": " + std::to_string(count) + " of " +
                           std::to_string(patient.cpus.usable) + " CPUs are used there, on weft too",
                       std::string("unset ") + name + ", unless the limit is meant"});
    } else if (count > 2L * patient.cpus.usable) {
      found.push_back({std::string(name) + '=' + *value + ": more threads than twice the " +
                           std::to_string(patient.cpus.usable) + " CPUs; the work is split into more parts for nothing",
                       std::string("unset ") + name});
    }
  }
  for (const auto& [name, off] : {std::pair{"OMP_MAX_ACTIVE_LEVELS", "1"}, std::pair{"OMP_NESTED", "false"}}) {
    const std::string* value = patient.variable(name);
    if (value != nullptr && *value == off)
      found.push_back(
          {std::string(name) + '=' + off + ": regions inside regions are serial", std::string("unset ") + name});
  }
}

void check_binding(const Patient& patient, Findings& found) {
  std::string set;
  int count = 0;
  for (const char* name : {"OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY", "KMP_AFFINITY", "WEFT_NUMA"}) {
    if (patient.variable(name) == nullptr) continue;
    set += (set.empty() ? "" : ", ") + std::string(name);
    ++count;
  }
  const bool pair =
      count == 2 && patient.variable("OMP_PLACES") != nullptr && patient.variable("OMP_PROC_BIND") != nullptr;
  if (count > 1 && !pair)
    found.push_back({set + " say where threads run, each in its way; one of them counts",
                     "keep one: OMP_PROC_BIND with OMP_PLACES, or none at all"});
}

void check_waiting(const Patient& patient, Findings& found) {
  const std::string* policy = patient.variable("OMP_WAIT_POLICY");
  if (policy != nullptr && (*policy == "active" || *policy == "ACTIVE") && patient.load > patient.online)
    found.push_back(
        {"OMP_WAIT_POLICY=active: threads that wait keep their CPUs from other programs", "unset OMP_WAIT_POLICY"});
  for (const char* name : {"GOMP_SPINCOUNT", "KMP_BLOCKTIME"}) {
    if (const std::string* value = patient.variable(name))
      found.push_back({std::string(name) + '=' + *value + ": another runtime's; weft does not read it",
                       std::string("unset ") + name + "; WEFT_SPIN_US is weft's"});
  }
}

void check_limits(const Patient& patient, Findings& found) {
  constexpr int64_t kMega = 1 << 20;
  constexpr int64_t kGiga = 1 << 30;
  if (patient.stack > 0 && patient.stack < 4 * kMega)
    found.push_back({"stacks of " + number(static_cast<double>(patient.stack) / kMega) +
                         " MiB (ulimit -s): deep recursion and large local arrays end by a crash",
                     "ulimit -s 8192, and OMP_STACKSIZE=8M for the threads of regions"});
  if (patient.stack > 4 * kGiga)
    found.push_back({"stacks of " + number(static_cast<double>(patient.stack) / kGiga) +
                         " GiB (ulimit -s): each thread asks for as many addresses",
                     "ulimit -s 8192, or OMP_STACKSIZE=16M"});
  if (patient.memory > 0)
    found.push_back({"addresses are limited to " + number(static_cast<double>(patient.memory) / kGiga) +
                         " GiB (ulimit -v): stacks and libc's areas of 64 MiB for each thread count",
                     "ulimit -v unlimited, or MALLOC_ARENA_MAX=2 and OMP_STACKSIZE=2M"});
  if (patient.threads > 0 && patient.threads < 64 + 8L * patient.cpus.usable)
    found.push_back({"the user may have " + std::to_string(patient.threads) + " threads (ulimit -u)",
                     "ulimit -u 4096: regions inside regions need some for each CPU"});
}

void check_weft(const Patient& patient, Findings& found) {
  if (const std::string* off = patient.variable("WEFT_ADOPT_LIBRARIES"); off != nullptr && *off == "false")
    found.push_back({"WEFT_ADOPT_LIBRARIES=false: OpenBLAS on pthreads and oneTBB bring threads of their own",
                     "unset WEFT_ADOPT_LIBRARIES"});
  for (const ProgramRuntimes::Other& copy : patient.runtimes.openblas) {
    if (copy.why.find("left alone") != std::string::npos)
      found.push_back({copy.file + ": " + copy.why, "another build of OpenBLAS: the page of systems lists them"});
  }
  if (!linker_audits())
    found.push_back({"glibc " + glibc_version() +
                         " audits wrongly: weft is preloaded, so what a library opens with "
                         "RTLD_DEEPBIND or dlmopen stays on its own runtime",
                     "glibc 2.35 or later"});
  bool reads_lines = false;
#ifdef WEFT_HAS_LIBDW
  reads_lines = libdw() != nullptr;
#endif
  if (!reads_lines)
    found.push_back({"libdw.so.1 is missing: reports name functions, not lines, and `weft threads` shows no stacks",
                     "apt install libdw1, or dnf install elfutils-libs"});
}

Findings examine(const Patient& patient) {
  Findings found;
  for (const auto check :
       {check_runtime, check_values, check_counts, check_cpus, check_binding, check_waiting, check_limits, check_weft})
    check(patient, found);
  return found;
}

std::string as_text(const Patient& patient, const Findings& found) {
  std::string text;
  if (found.empty()) {
    text = "Nothing that weft knows of is wrong here.\n";
    text += patient.program || patient.process != 0
                ? "If it is slow: weft report PROGRAM. If it hangs: weft threads PID.\n"
                : "Give it a program or a process to look at: weft doctor -- PROGRAM, weft doctor PID.\n";
    return text;
  }
  for (size_t i = 0; i < found.size(); ++i) {
    text += std::to_string(i + 1) + ". " + found[i].what + "\n   -> " + found[i].mend + '\n';
  }
  return text;
}

std::string as_json(const Findings& found) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Finding& finding : found) all.push_back({{"what", finding.what}, {"mend", finding.mend}});
  return nlohmann::ordered_json{{"findings", all}}.dump(2) + '\n';
}

bool is_number(const std::string& word) {
  return !word.empty() && word.size() < 10 && word.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

int doctor(const DoctorOptions& options, const std::vector<std::string>& command) {
  std::optional<Patient> patient;
  if (command.empty()) {
    patient = patient_here();
  } else if (command.size() == 1 && is_number(command.front())) {
    std::string fault;
    patient = patient_process(std::atoi(command.front().c_str()), &fault);
    if (!patient) {
      base::warn("doctor: process %s: %s", command.front().c_str(), fault.c_str());
      return kFailed;
    }
  } else {
    patient = patient_program(command.front());
    if (patient->program->path.empty()) {
      base::warn("%s", patient->program->complaint.c_str());
      return patient->program->exit_code;
    }
  }
  ReportFile json("doctor", "--json", options.json);
  if (!json.good()) return kFailed;
  const Findings found = examine(*patient);
  if (!options.json.empty() && !json.write(as_json(found))) return kFailed;
  if (options.json != "-") std::fputs(as_text(*patient, found).c_str(), stdout);
  return 0;
}

}  // namespace weft::tools
