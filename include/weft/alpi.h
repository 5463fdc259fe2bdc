/* SPDX-License-Identifier: Apache-2.0 */
/* ALPI 1.2, by which libraries such as TAMPI ask a runtime to pause, spawn and complete tasks. The names, values and types
 * are the interface's own, so that a library that has been built for it runs on weft. docs/explanation/alpi.md says what
 * a task is here.
 *
 * All functions may be called by any thread at any time. They return ALPI_SUCCESS or what has failed, and keep errno.
 * Found by linking with weft, or by dlsym in a process that has it. */
#ifndef WEFT_ALPI_H
#define WEFT_ALPI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ALPI_VERSION_MAJOR 1
#define ALPI_VERSION_MINOR 2

#define ALPI_FEATURE_BLOCKING (1 << 0)  /* block, unblock, waitfor */
#define ALPI_FEATURE_EVENTS (1 << 1)    /* events_* */
#define ALPI_FEATURE_RESOURCES (1 << 2) /* cpu_* */
#define ALPI_FEATURE_SUSPEND (1 << 3)   /* suspend, suspend_mode_set */

typedef enum {
  ALPI_SUCCESS = 0,
  ALPI_ERR_VERSION,
  ALPI_ERR_NOT_INITIALIZED,
  ALPI_ERR_PARAMETER,
  ALPI_ERR_OUT_OF_MEMORY,
  ALPI_ERR_OUTSIDE_TASK,
  ALPI_ERR_UNKNOWN,
  ALPI_ERR_FEATURE_UNKNOWN,
  ALPI_ERR_MAX
} alpi_error_t;

typedef enum { ALPI_INFO_RUNTIME_NAME = 0, ALPI_INFO_RUNTIME_VENDOR, ALPI_INFO_VERSION } alpi_info_t;

/* When the body of a suspended task runs again. */
typedef enum {
  ALPI_SUSPEND_NONE = 0,       /* after alpi_task_unblock() */
  ALPI_SUSPEND_SUBMIT,         /* at once, after other work that is ready */
  ALPI_SUSPEND_TIMEOUT_SUBMIT, /* after so many nanoseconds */
  ALPI_SUSPEND_EVENT_SUBMIT    /* when the task has no events left */
} alpi_suspend_mode_t;

struct alpi_task;
struct alpi_attr;

const char *alpi_error_string(alpi_error_t error);
/* `length`, which may be null: of what is in `buffer` then, less the 0 behind it. */
int alpi_info_get(alpi_info_t query, char *buffer, size_t size, int *length);
/* ALPI_SUCCESS: the runtime has all of them. */
int alpi_feature_check(int features);
int alpi_version_check(int major, int minor);
int alpi_version_get(int *major, int *minor);

/* The caller's task, whose handle is valid until the task has completed. Each thread runs one. */
int alpi_task_self(struct alpi_task **task);

/* Pauses the caller's task, which `task` must be, until the other one has been called for it: once for each block, before
 * or after it. */
int alpi_task_block(struct alpi_task *task);
int alpi_task_unblock(struct alpi_task *task);

/* Pauses the caller's task for about so long; 0: it only lets others run. `waited_ns`, which may be null: how long it was. */
int alpi_task_waitfor_ns(uint64_t wanted_ns, uint64_t *waited_ns);

/* The caller's task, which `task` must be, completes when its body has ended and `count` more events have come. */
int alpi_task_events_increase(struct alpi_task *task, uint64_t count);
/* So many have come; by any thread. */
int alpi_task_events_decrease(struct alpi_task *task, uint64_t count);
/* *some: 1 if there are events to come, else 0. */
int alpi_task_events_test(struct alpi_task *task, uint64_t *some);

/* For the body of a spawned task: when it returns, it is to be run again from its beginning, and when. */
int alpi_task_suspend_mode_set(struct alpi_task *task, alpi_suspend_mode_t mode, uint64_t argument);
int alpi_task_suspend(struct alpi_task *task);

/* A task that belongs to no region. `completed`, which may be null, is called when it has completed. There are no
 * attributes so far, and labels are for other runtimes. */
int alpi_task_spawn(void (*body)(void *argument), void *argument, void (*completed)(void *argument),
                    void *completed_argument, const char *label, const struct alpi_attr *attr);
int alpi_attr_create(struct alpi_attr **attr);
int alpi_attr_destroy(struct alpi_attr *attr);
int alpi_attr_init(struct alpi_attr *attr);
int alpi_attr_size(uint64_t *size);

/* The OS threads that tasks may run on have numbers below `count`, which no two have at the same time; a task keeps its
 * thread until it waits. */
int alpi_cpu_count(uint64_t *count);
int alpi_cpu_logical_id(uint64_t *id);
/* The system's number of the CPU. */
int alpi_cpu_system_id(uint64_t *id);

#ifdef __cplusplus
}
#endif

#endif
