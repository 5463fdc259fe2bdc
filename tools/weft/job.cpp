// SPDX-License-Identifier: Apache-2.0
#include "job.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include <unistd.h>

namespace weft::tools {

namespace {

std::string value_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr ? value : "";
}

// The first that is set.
template <class... Names>
std::string first_of(Names... variables) {
  for (const char* variable : {variables...}) {
    if (std::string value = value_of(variable); !value.empty()) return value;
  }
  return {};
}

int number_in(const std::string& text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : -1;
}

std::string contents_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Behind the name, which may have any character in it but a newline.
pid_t parent_of(pid_t process) {
  const std::string stat = contents_of("/proc/" + std::to_string(process) + "/stat");
  const size_t name_end = stat.rfind(") ");
  int parent = 0;
  if (name_end == std::string::npos || std::sscanf(stat.c_str() + name_end, ") %*c %d", &parent) != 1) return 0;
  return parent;
}

// Of the words in a process's command line the one behind `word`; empty: there is none.
std::string word_behind(pid_t process, const char* word) {
  const std::string line = contents_of("/proc/" + std::to_string(process) + "/cmdline");
  bool found = false;
  for (size_t at = 0; at < line.size(); at += std::strlen(line.c_str() + at) + 1) {
    if (found) return line.c_str() + at;
    found = std::strcmp(line.c_str() + at, word) == 0;
  }
  return {};
}

// Hydra, MPICH's launcher, tells its ranks of no job. Its helper on each host has been told where the launcher listens,
// which is the same on all hosts, and of which of the launcher's groups of ranks these are.
std::string job_of_hydra() {
  constexpr int kMostAncestors = 16;
  pid_t process = getppid();
  for (int i = 0; i < kMostAncestors && process > 1; ++i, process = parent_of(process)) {
    const std::string port = word_behind(process, "--control-port");
    if (!port.empty()) return port + " " + word_behind(process, "--pgid");
  }
  return {};
}

std::string slurm_step() {
  const std::string step = first_of("SLURM_STEP_ID", "SLURM_STEPID");
  return step.empty() ? "" : first_of("SLURM_JOB_ID", "SLURM_JOBID") + "." + step;
}

std::string hashed(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  char name[24];
  std::snprintf(name, sizeof name, "%016llx", static_cast<unsigned long long>(hash));
  return name;
}

struct Said {
  std::string rank;
  std::string ranks;
  std::string job;
};

// In the order of rank_by_launcher(). SLURM_NTASKS is what a batch job has asked for, also outside of its steps.
Said said_by_launcher() {
  if (const std::string rank = value_of("OMPI_COMM_WORLD_RANK"); !rank.empty()) {
    const std::string job = first_of("PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid");
    // Open MPI 4 makes the name of a job from the launcher's process number, and a random number for each.
    return {rank, value_of("OMPI_COMM_WORLD_SIZE"), job + value_of("OMPI_MCA_orte_precondition_transports")};
  }
  if (const std::string rank = value_of("PMIX_RANK"); !rank.empty()) {
    return {rank, first_of("PMIX_SIZE", "SLURM_STEP_NUM_TASKS"), first_of("PMIX_NAMESPACE") + slurm_step()};
  }
  if (const std::string rank = value_of("PMI_RANK"); !rank.empty()) {
    const std::string hydra = job_of_hydra();
    return {rank, value_of("PMI_SIZE"), hydra.empty() ? first_of("PALS_APID", "PMI_JOBID") + slurm_step() : hydra};
  }
  return {value_of("SLURM_PROCID"), value_of("SLURM_STEP_NUM_TASKS"), slurm_step()};
}

}  // namespace

std::optional<Job> job_by_launcher() {
  const Said said = said_by_launcher();
  const int rank = number_in(said.rank);
  const int ranks = number_in(said.ranks);
  if (rank < 0 || ranks < 1 || rank >= ranks || said.job.empty()) return std::nullopt;
  return Job{rank, ranks, hashed(said.job)};
}

}  // namespace weft::tools
