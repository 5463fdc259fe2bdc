// SPDX-License-Identifier: Apache-2.0
#include "host.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include <mpi.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace weft::tune {

namespace {

constexpr int kNotFound = 127;

// Stands for the number of ranks in the command.
constexpr char kRanks[] = "{ranks}";
// Tells the driver how many hosts the job is on: a launcher without options would take this one only.
constexpr char kHosts[] = "WEFT_TUNE_HOSTS";

// What the launcher has told this rank about its job: an mpirun that sees it believes to be a rank.
bool is_of_launcher(std::string_view variable) {
  for (const char* users : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_MCA_btl", "OMPI_MCA_pml", "OMPI_MCA_mtl", "OMPI_MCA_coll",
                            "OMPI_MCA_smsc", "OMPI_MCA_osc", "OMPI_MCA_op", "OMPI_MCA_mpi"}) {
    if (variable.starts_with(users)) return false;
  }
  for (const char* launchers : {"OMPI_", "PMIX_", "PMI_", "PRTE_", "ORTE_", "HYDI_", "HYDRA_", "MPI_LOCAL"}) {
    if (variable.starts_with(launchers)) return true;
  }
  return false;
}

void forget_launcher() {
  std::vector<std::string> names;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (is_of_launcher(*variable)) names.emplace_back(*variable, std::strcspn(*variable, "="));
  }
  for (const std::string& name : names) unsetenv(name.c_str());
}

pid_t start(char** command, const cpu_set_t& cpus, int ranks, int hosts) {
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  forget_launcher();
  setenv(kHosts, std::to_string(hosts).c_str(), 1);
  std::string count = std::to_string(ranks);
  for (char** argument = command; *argument != nullptr; ++argument) {
    if (std::strcmp(*argument, kRanks) == 0) *argument = count.data();
  }
  // A rank is often bound to one CPU. The jobs need those of all ranks.
  sched_setaffinity(0, sizeof cpus, &cpus);
  execvp(command[0], command);
  std::fprintf(stderr, "weft: tune: %s: %s\n", command[0], std::strerror(errno));
  _exit(kNotFound);
}

int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

void nap() {
  const timespec time{.tv_sec = 0, .tv_nsec = 20'000'000};
  nanosleep(&time, nullptr);
}

// The first rank of this one's host, by name. MPI_COMM_TYPE_SHARED may part ranks of a host, where an MPI goes without
// shared memory.
int first_of_host(int rank, int ranks) {
  using Name = std::array<char, MPI_MAX_PROCESSOR_NAME>;
  Name own{};
  int length = 0;
  MPI_Get_processor_name(own.data(), &length);
  std::vector<Name> names(static_cast<size_t>(ranks));
  MPI_Allgather(own.data(), MPI_MAX_PROCESSOR_NAME, MPI_CHAR, names.data(), MPI_MAX_PROCESSOR_NAME, MPI_CHAR,
                MPI_COMM_WORLD);
  const auto first = std::find(names.begin(), names.end(), names[static_cast<size_t>(rank)]);
  return static_cast<int>(first - names.begin());
}

}  // namespace

int host(char** command) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, first_of_host(rank, ranks), rank, &node);
  cpu_set_t own;
  cpu_set_t all;
  CPU_ZERO(&own);
  sched_getaffinity(0, sizeof own, &own);
  MPI_Allreduce(&own, &all, sizeof own, MPI_BYTE, MPI_BOR, node);

  int rank_of_node = 0;
  MPI_Comm_rank(node, &rank_of_node);
  const int first = rank_of_node == 0 ? 1 : 0;
  int hosts = 0;
  MPI_Allreduce(&first, &hosts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);

  int code = 0;
  if (rank == 0) {
    const pid_t child = start(command, all, ranks, hosts);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    code = code_of(status);
  }
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0; done == 0;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done == 0) nap();
  }
  return code;
}

}  // namespace weft::tune
