/* SPDX-License-Identifier: Apache-2.0 */
/* The names under which Sala et al. (weft/task.h) introduced pauses, polling services and events of tasks, for code that
 * uses them. A handle may be handed to weft's own functions and back. */
#ifndef WEFT_NANOS6_H
#define WEFT_NANOS6_H

#include <weft/task.h>

#ifdef __cplusplus
extern "C" {
#endif

static inline void *nanos_get_current_blocking_context(void) { return weft_get_current_blocking_context(); }
static inline void nanos_block_current_task(void *context)
{
  weft_block_current_task((weft_blocking_context *)context);
}
static inline void nanos_unblock_task(void *context) { weft_unblock_task((weft_blocking_context *)context); }

/* Here a service that returns other than 0 has done its work, and is unregistered; otherwise it is called again. */
typedef int (*nanos_polling_service_t)(void *data);
void nanos_register_polling_service(const char *name, nanos_polling_service_t service, void *data);
void nanos_unregister_polling_service(const char *name, nanos_polling_service_t service, void *data);

static inline void *nanos_get_current_event_counter(void) { return weft_get_current_event_counter(); }
static inline void nanos_increase_current_task_event_counter(void *counter, unsigned increment)
{
  weft_increase_current_task_event_counter((weft_event_counter *)counter, increment);
}
static inline void nanos_decrease_task_event_counter(void *counter, unsigned decrement)
{
  weft_decrease_task_event_counter((weft_event_counter *)counter, decrement);
}

#ifdef __cplusplus
}
#endif

#endif
