// SPDX-License-Identifier: Apache-2.0
// Stands in for what protocols of OpenMP's tasks need around them: memory of tasks, tools, pauses.
#pragma once

#include "openmp/task/task.h"

namespace weft::explore {

struct StandInTask {
  openmp::Task task;
  int runs = 0;  // plain: two that run it race
  int freed = 0;
  int* counter = nullptr;  // which its body raises too

  openmp::Task* prepare();
};

}  // namespace weft::explore
