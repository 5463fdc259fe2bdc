/* SPDX-License-Identifier: Apache-2.0 */
/* What lets a task wait for something that OpenMP knows nothing of, a message or a file, without its CPU: the task is
 * paused, and the CPU runs other work until somebody says that the task can go on. The names and the model are those of
 * Sala et al., "Integrating blocking and non-blocking MPI primitives with task-based programming models" (Parallel
 * Computing 85, 2019), section 4; weft/nanos6.h has its C names. A task is here whatever OpenMP calls one: explicit,
 * or implicit, a thread's part of a parallel region.
 *
 * All of it may be called at any time by any thread; those of other threads than OpenMP's too. Found by linking with
 * weft, or by dlsym in a process that has it. */
#ifndef WEFT_TASK_H
#define WEFT_TASK_H

#ifdef __cplusplus
extern "C" {
#endif

/* One pause of one task, from before it to its end. */
typedef struct weft_blocking_context weft_blocking_context;

/* For one pause of the caller; valid until weft_block_current_task() has returned. Never null. */
weft_blocking_context *weft_get_current_blocking_context(void);

/* Pauses the caller, whose blocking context it must be, until weft_unblock_task() has been called for the context; once
 * per pause, before or after. Where it runs goes on with other tasks of its team and with other work of the process,
 * though not under the same thread number at the same time. Keeps errno. */
void weft_block_current_task(weft_blocking_context *context);
void weft_unblock_task(weft_blocking_context *context);

/* Waits in place for done(argument) to return other than 0, as long as the CPU has nothing else to do, and not for
 * long. Returns what it said last: 0 means that the caller had better pause. */
int weft_spin_until(int (*done)(void *argument), void *argument);

/* Lets other work run before the caller goes on, if there is some: 1 if there was. For loops that look for something. */
int weft_yield(void);

/* Whether the caller is inside of a parallel region or an explicit task, or has tasks to run: 1. If not, 0, a thread that
 * waits in the system, or in another library, keeps nobody of its process waiting. */
int weft_is_in_parallel(void);

/* Has service(data) called now and then, by threads that wait or are between two tasks, every millisecond at least, by
 * one thread at a time, though by different ones. It must not wait. It returns how many tasks or events it still
 * waits for, which `weft top` shows: when that is 0 it is not called again until weft_poll_soon(). Call that after there
 * is more. */
typedef int (*weft_polling_service)(void *data);

/* Returns 0, or an errno: EAGAIN where there are too many services, EINVAL. `name` is for diagnosis, and kept. */
int weft_register_polling_service(const char *name, weft_polling_service service, void *data);
/* Once it has returned the service does not run, and will not. EINVAL: it was not registered. */
int weft_unregister_polling_service(weft_polling_service service, void *data);
void weft_poll_soon(void);

/* How many threads run something of the program's on the CPUs of OpenMP; paused tasks do not. For diagnosis: what it
 * says was so a moment ago. */
int weft_busy_threads(void);

/* The events of an explicit task, beside its body: it has ended, for taskwait, barriers and dependences, when its body
 * has and all its events have come. */
typedef struct weft_event_counter weft_event_counter;

/* Of the caller; null in an implicit task, which has none. Valid until its last event has come. */
weft_event_counter *weft_get_current_event_counter(void);

/* By the task itself: `events` more are to come. */
void weft_increase_current_task_event_counter(weft_event_counter *counter, unsigned events);
/* By any thread: `events` of them have. */
void weft_decrease_task_event_counter(weft_event_counter *counter, unsigned events);

#ifdef __cplusplus
}
#endif

#endif
