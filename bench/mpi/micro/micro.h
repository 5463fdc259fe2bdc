// SPDX-License-Identifier: Apache-2.0
// The measurements of mpi_micro and mpi_calls, a file for each family. All ranks run each of them; what rank 0 returns
// counts.
#pragma once

#include <mpi.h>
#include <stdbool.h>

struct measurement {
  const char* name;
  // Seconds of `count` items, such as messages. The count that fills some milliseconds is found, and that is repeated.
  double (*run)(const struct measurement* self, long count);
  // Instead of `run`: one sample, in `unit`.
  double (*sample)(const struct measurement* self);
  const char* unit;
  int bytes;  // of a message
  bool in_task;  // the calls are made in an explicit task
  int tasks;
  const struct calls* calls;
  bool by_events;  // those need task-aware MPI
  void (*call)(int rank);  // of MPI
};

// What the program has; it ends with null.
extern const struct measurement* const families[];

// Lists that end with one without a name.
extern const struct measurement ping_pong_measurements[];
extern const struct measurement ready_receive_measurements[];
extern const struct measurement message_rate_measurements[];
extern const struct measurement waiting_measurements[];
extern const struct measurement call_measurements[];

// Runs it in a task, in a team of the usual size, or as it is.
void run_in(bool in_task, void (*run)(void* argument), void* argument);
