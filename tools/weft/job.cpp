// SPDX-License-Identifier: Apache-2.0
#include "job.h"

#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include <unistd.h>

#include "platform/launcher.h"

namespace weft::tools {

namespace {

using platform::first_value;
using platform::Launcher;

std::string text_of(const char* value) { return value != nullptr ? value : ""; }

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
  const std::string step = text_of(first_value(platform::kSlurmStep));
  return step.empty() ? "" : text_of(first_value(platform::kSlurmJob)) + "." + step;
}

std::string name_of_job(const Launcher& launcher) {
  if (launcher.mpi == platform::Mpi::mpich) {
    if (std::string hydra = job_of_hydra(); !hydra.empty()) return hydra;
  }
  const std::string name = text_of(first_value(launcher.job)) + text_of(first_value(launcher.job_more));
  return launcher.srun == platform::Srun::no ? name : name + slurm_step();
}

std::string hashed(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  char name[24];
  std::snprintf(name, sizeof name, "%016llx", static_cast<unsigned long long>(hash));
  return name;
}

}  // namespace

std::optional<Job> job_by_launcher() {
  const Launcher* found = platform::launcher();
  if (found == nullptr) return std::nullopt;
  const int rank = number_in(text_of(platform::rank_by_launcher()));
  const int ranks = number_in(text_of(first_value(found->ranks)));
  const std::string name = name_of_job(*found);
  if (rank < 0 || ranks < 1 || rank >= ranks || name.empty()) return std::nullopt;
  return Job{rank, ranks, hashed(name)};
}

}  // namespace weft::tools
