// SPDX-License-Identifier: Apache-2.0
#include "platform/launcher.h"

#include <cstdlib>
#include <map>
#include <string>

#include <gtest/gtest.h>

namespace weft::platform {
namespace {

constexpr const char* kAll[] = {"OMPI_COMM_WORLD_RANK",
                                "OMPI_COMM_WORLD_SIZE",
                                "OMPI_MCA_ess_base_jobid",
                                "OMPI_MCA_orte_precondition_transports",
                                "PMIX_RANK",
                                "PMIX_SIZE",
                                "PMIX_NAMESPACE",
                                "PMI_RANK",
                                "PMI_SIZE",
                                "PMI_JOBID",
                                "PALS_APID",
                                "FLUX_TASK_RANK",
                                "FLUX_JOB_SIZE",
                                "FLUX_JOB_ID",
                                "SLURM_PROCID",
                                "SLURM_STEP_ID",
                                "SLURM_STEPID",
                                "SLURM_STEP_NUM_TASKS",
                                "SLURM_JOB_ID",
                                "SLURM_JOBID",
                                "SLURM_NTASKS"};

// The environment of a process as a launcher makes it; what the tests run under comes back.
class LauncherTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* variable : kAll) {
      if (const char* value = std::getenv(variable)) before_[variable] = value;
      unsetenv(variable);
    }
  }
  void TearDown() override {
    for (const char* variable : kAll) unsetenv(variable);
    for (const auto& [variable, value] : before_) setenv(variable.c_str(), value.c_str(), 1);
  }

  static void set(const std::map<std::string, std::string>& variables) {
    for (const auto& [variable, value] : variables) setenv(variable.c_str(), value.c_str(), 1);
  }
  static std::string rank() { return rank_by_launcher() != nullptr ? rank_by_launcher() : "none"; }
  static std::string ranks() { return launcher() != nullptr ? first_value(launcher()->ranks) : "none"; }
  static std::string job() {
    const char* name = launcher() != nullptr ? first_value(launcher()->job) : nullptr;
    return name != nullptr ? name : "none";
  }

 private:
  std::map<std::string, std::string> before_;
};

TEST_F(LauncherTest, NoneHasStartedIt) {
  EXPECT_EQ(launcher(), nullptr);
  EXPECT_EQ(rank(), "none");
  EXPECT_EQ(mpi_by_launcher(), Mpi::unknown);
}

TEST_F(LauncherTest, AnEmptyVariableIsNone) {
  set({{"PMI_RANK", ""}});
  EXPECT_EQ(launcher(), nullptr);
}

TEST_F(LauncherTest, OpenMpi) {
  set({{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"PMIX_RANK", "3"}, {"PMIX_NAMESPACE", "n"}});
  EXPECT_EQ(rank(), "3");
  EXPECT_EQ(ranks(), "4");
  EXPECT_EQ(job(), "n");
  EXPECT_EQ(mpi_by_launcher(), Mpi::openmpi);
  EXPECT_EQ(launcher()->srun, Srun::no);
}

TEST_F(LauncherTest, OpenMpiInAJobOfSlurm) {
  set({{"OMPI_COMM_WORLD_RANK", "3"}, {"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", "7"}});
  EXPECT_EQ(rank(), "3");
}

TEST_F(LauncherTest, Pmix) {
  set({{"PMIX_RANK", "2"}, {"PMIX_SIZE", "5"}, {"PMIX_NAMESPACE", "n"}});
  EXPECT_EQ(rank(), "2");
  EXPECT_EQ(ranks(), "5");
  EXPECT_EQ(job(), "n");
  EXPECT_EQ(mpi_by_launcher(), Mpi::unknown);
}

TEST_F(LauncherTest, SrunWithPmix) {
  set({{"PMIX_RANK", "2"}, {"PMIX_NAMESPACE", "slurm.pmix.9.0"}, {"SLURM_STEP_NUM_TASKS", "5"}});
  EXPECT_EQ(ranks(), "5");
  EXPECT_EQ(launcher()->srun, Srun::maybe);
}

TEST_F(LauncherTest, Hydra) {
  set({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}});
  EXPECT_EQ(rank(), "1");
  EXPECT_EQ(ranks(), "2");
  EXPECT_EQ(job(), "none");
  EXPECT_EQ(mpi_by_launcher(), Mpi::mpich);
}

TEST_F(LauncherTest, OthersWithPmi) {
  set({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"PALS_APID", "a"}});
  EXPECT_EQ(job(), "a");
  set({{"PALS_APID", ""}, {"PMI_JOBID", "9.0"}});
  EXPECT_EQ(job(), "9.0");
}

TEST_F(LauncherTest, Flux) {
  set({{"FLUX_TASK_RANK", "6"}, {"FLUX_JOB_SIZE", "8"}, {"FLUX_JOB_ID", "f"}});
  EXPECT_EQ(rank(), "6");
  EXPECT_EQ(ranks(), "8");
  EXPECT_EQ(job(), "f");
  // It is the launcher of an MPI with PMI too.
  set({{"PMI_RANK", "6"}, {"PMI_SIZE", "8"}});
  EXPECT_EQ(rank(), "6");
  EXPECT_EQ(job(), "f");
}

TEST_F(LauncherTest, HydraInAJobOfFlux) {
  set({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"FLUX_TASK_RANK", "0"}, {"FLUX_JOB_SIZE", "1"}});
  EXPECT_EQ(rank(), "1");
  EXPECT_EQ(ranks(), "2");
}

TEST_F(LauncherTest, Srun) {
  set({{"SLURM_PROCID", "5"}, {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "6"}, {"SLURM_NTASKS", "9"}});
  EXPECT_EQ(rank(), "5");
  EXPECT_EQ(ranks(), "6");
  EXPECT_EQ(launcher()->srun, Srun::always);
}

TEST_F(LauncherTest, TheScriptOfABatchJobIsNoRank) {
  set({{"SLURM_PROCID", "0"}, {"SLURM_JOB_ID", "9"}, {"SLURM_NTASKS", "4"}});
  EXPECT_EQ(rank(), "none");
  set({{"SLURM_STEP_ID", "4294967291"}});
  EXPECT_EQ(rank(), "none");
}

TEST_F(LauncherTest, AnInteractiveShellIsNoRank) {
  set({{"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", "4294967290"}});
  EXPECT_EQ(rank(), "none");
}

}  // namespace
}  // namespace weft::platform
