// SPDX-License-Identifier: Apache-2.0
#include "top/program_tree.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace weft::tools {
namespace {

ProgramRow program(int pid, int parent, const char* name, double cpus = 0) {
  ProgramRow row;
  row.pid = pid;
  row.parent = parent;
  row.name = row.command = name;
  row.cpus = cpus;
  return row;
}

Ancestor ancestor(int parent, const char* name, const char* command = "") {
  return {.start = 0, .parent = parent, .name = name, .command = *command != '\0' ? command : name};
}

// "name" of each line, with its branch.
std::vector<std::string> names(const std::vector<ListedProcess>& listed) {
  std::vector<std::string> found;
  for (const ListedProcess& line : listed) found.push_back(line.branch + line.command());
  return found;
}

using Names = std::vector<std::string>;

TEST(ProgramTreeTest, AListIsInTheOrderOfItsColumn) {
  ProgramRows rows;
  rows.programs = {program(7, 1, "b", 0.5), program(8, 1, "a", 1.5), program(9, 1, "c", 1.5)};
  rows.programs[0].regions = 10;
  rows.programs[2].regions = 2;
  EXPECT_EQ(names(list_of(rows, TableOrder::cpu, "")), (Names{"a", "c", "b"}));
  EXPECT_EQ(names(list_of(rows, TableOrder::name, "")), (Names{"a", "b", "c"}));
  EXPECT_EQ(names(list_of(rows, TableOrder::pid, "")), (Names{"b", "a", "c"}));
  EXPECT_EQ(names(list_of(rows, TableOrder::regions, "")), (Names{"b", "c", "a"}));
}

TEST(ProgramTreeTest, RanksStandBelowTheirLauncher) {
  ProgramRows rows;
  rows.programs = {program(21, 12, "rank", 0.5), program(22, 12, "rank", 0.9), program(30, 5, "alone", 0.7)};
  rows.ancestors = {{12, ancestor(11, "mpirun")}, {11, ancestor(5, "timeout")}, {5, ancestor(1, "bash")},
                    {1, ancestor(0, "systemd")}};
  const std::vector<ListedProcess> tree = tree_of(rows, TableOrder::cpu, "");
  EXPECT_EQ(names(tree), (Names{"bash", "|- mpirun", "|  |- rank", "|  `- rank", "`- alone"}));
  EXPECT_EQ(tree[2].pid, 22);
  EXPECT_EQ(tree[2].parent, 12);
}

TEST(ProgramTreeTest, WhatOnlyStartsOthersIsLeftOut) {
  ProgramRows rows;
  rows.programs = {program(20, 19, "simulate")};
  rows.ancestors = {{19, ancestor(18, "sh", "sh -c ./simulate")}, {18, ancestor(1, "make")}, {1, ancestor(0, "init")}};
  EXPECT_EQ(names(tree_of(rows, TableOrder::cpu, "")), (Names{"make", "`- simulate"}));
  rows.ancestors = {{19, ancestor(1, "timeout")}, {1, ancestor(0, "systemd")}};
  EXPECT_EQ(names(tree_of(rows, TableOrder::cpu, "")), (Names{"simulate"}));
}

TEST(ProgramTreeTest, ProcessesOnWeftAreParentsToo) {
  ProgramRows rows;
  rows.programs = {program(20, 1, "pool"), program(21, 20, "worker", 1), program(22, 19, "worker", 2)};
  rows.ancestors = {{19, ancestor(20, "env")}};
  EXPECT_EQ(names(tree_of(rows, TableOrder::cpu, "")), (Names{"pool", "|- worker", "`- worker"}));
}

TEST(ProgramTreeTest, AFilterKeepsThoseAbove) {
  ProgramRows rows;
  rows.programs = {program(20, 19, "simulate --Big"), program(21, 19, "other")};
  rows.ancestors = {{19, ancestor(0, "make")}};
  EXPECT_EQ(names(list_of(rows, TableOrder::cpu, "big")), (Names{"simulate --Big"}));
  EXPECT_EQ(names(tree_of(rows, TableOrder::cpu, "BIG")), (Names{"make", "`- simulate --Big"}));
  EXPECT_EQ(names(tree_of(rows, TableOrder::cpu, "21")), (Names{"make", "`- other"}));
  EXPECT_EQ(names(tree_of(rows, TableOrder::cpu, "nothing")), Names());
}

// What /proc says of several moments.
TEST(ProgramTreeTest, CirclesAndGapsEnd) {
  ProgramRows rows;
  rows.programs = {program(20, 21, "a"), program(21, 20, "b"), program(22, 22, "c"), program(23, 99, "d")};
  rows.ancestors = {{30, ancestor(31, "x")}, {31, ancestor(30, "y")}};
  rows.programs.push_back(program(24, 30, "e"));
  const std::vector<ListedProcess> tree = tree_of(rows, TableOrder::pid, "");
  size_t programs = 0;
  for (const ListedProcess& line : tree) programs += line.program != nullptr ? 1 : 0;
  EXPECT_EQ(programs, rows.programs.size());
}

}  // namespace
}  // namespace weft::tools
