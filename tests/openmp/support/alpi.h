// SPDX-License-Identifier: Apache-2.0
// The functions of weft/alpi.h that the runtime exports, as libraries find them.
#ifndef ALPI_FUNCTIONS_H
#define ALPI_FUNCTIONS_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../../include/weft/alpi.h"

#define ALPI_FUNCTIONS(X)                                                                                       \
  X(attr_create) X(attr_destroy) X(attr_init) X(attr_size) X(cpu_count) X(cpu_logical_id) X(cpu_system_id)      \
  X(error_string) X(feature_check) X(info_get) X(task_block) X(task_events_decrease) X(task_events_increase)    \
  X(task_events_test) X(task_self) X(task_spawn) X(task_suspend) X(task_suspend_mode_set) X(task_unblock)       \
  X(task_waitfor_ns) X(version_check) X(version_get)

#define ALPI_DECLARE(name) __typeof__(alpi_##name) *name;
static struct {
  ALPI_FUNCTIONS(ALPI_DECLARE)
} alpi;

static inline void find_one(void **function, const char *name)
{
  *function = dlsym(RTLD_DEFAULT, name);
  if (*function != 0) return;
  fprintf(stderr, "the runtime does not have %s\n", name);
  exit(1);
}

static inline void find_alpi(void)
{
#define ALPI_FIND(name) find_one((void **)&alpi.name, "alpi_" #name);
  ALPI_FUNCTIONS(ALPI_FIND)
}

static inline struct alpi_task *own_task(void)
{
  struct alpi_task *task = 0;
  if (alpi.task_self(&task) != ALPI_SUCCESS) abort();
  return task;
}

#endif
