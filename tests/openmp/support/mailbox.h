// SPDX-License-Identifier: Apache-2.0
// Messages inside one process, as a library of messages would have them: a send is over when it has been received. The
// caller is paused meanwhile (weft/task.h). One polling service brings both sides together.
#ifndef MAILBOX_H
#define MAILBOX_H

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "../../../include/weft/task.h"

enum { kBoxes = 320 };

// What the runtime exports.
static weft_blocking_context *(*get_blocking_context)(void);
static void (*block_task)(weft_blocking_context *);
static void (*unblock_task)(weft_blocking_context *);
static int (*spin_until)(int (*)(void *), void *);
static int (*yield_task)(void);
static int (*register_service)(const char *, weft_polling_service, void *);
static int (*unregister_service)(weft_polling_service, void *);
static void (*poll_soon)(void);
static weft_event_counter *(*get_event_counter)(void);
static void (*increase_events)(weft_event_counter *, unsigned);
static void (*decrease_events)(weft_event_counter *, unsigned);

struct Side {
  weft_blocking_context *pause;  // or
  weft_event_counter *event;
  long *value;
  _Atomic int state;
};

enum { kFree = 0, kTaken = 1, kThere = 2 };

static struct Box {
  struct Side sender, receiver;
} g_boxes[kBoxes];
static _Atomic int g_sides;  // that wait

static void end_side(struct Side *side)
{
  weft_blocking_context *pause = side->pause;
  weft_event_counter *event = side->event;
  // The box may serve again as soon as its side goes on.
  atomic_store(&side->state, kFree);
  atomic_fetch_sub(&g_sides, 1);
  if (pause != 0) unblock_task(pause);
  if (event != 0) decrease_events(event, 1);
}

static int deliver(void *data)
{
  (void)data;
  for (int i = 0; i < kBoxes; i++) {
    struct Box *box = &g_boxes[i];
    if (atomic_load(&box->sender.state) != kThere || atomic_load(&box->receiver.state) != kThere) continue;
    *box->receiver.value = *box->sender.value;
    end_side(&box->receiver);
    end_side(&box->sender);
  }
  return atomic_load(&g_sides);
}

static void join_side(struct Side *side, long *value, weft_event_counter *event)
{
  // Several may want the same box.
  for (int free = kFree; !atomic_compare_exchange_strong(&side->state, &free, kTaken); free = kFree) yield_task();
  weft_blocking_context *pause = event == 0 ? get_blocking_context() : 0;
  side->pause = pause;
  side->event = event;
  side->value = value;
  atomic_fetch_add(&g_sides, 1);
  atomic_store(&side->state, kThere);
  poll_soon();
  if (pause != 0) block_task(pause);
}

static inline void send_to(int box, long value) { join_side(&g_boxes[box].sender, &value, 0); }

static inline long receive_from(int box)
{
  long value = -1;
  join_side(&g_boxes[box].receiver, &value, 0);
  return value;
}

// The caller's task ends when `value` is there.
static inline void receive_later(int box, long *value)
{
  weft_event_counter *event = get_event_counter();
  increase_events(event, 1);
  join_side(&g_boxes[box].receiver, value, event);
}

#define MAILBOX_FIND(variable, name) \
  if ((*(void **)&variable = dlsym(RTLD_DEFAULT, name)) == 0) abort()

static inline void open_mailbox(void)
{
  MAILBOX_FIND(get_blocking_context, "weft_get_current_blocking_context");
  MAILBOX_FIND(block_task, "weft_block_current_task");
  MAILBOX_FIND(unblock_task, "weft_unblock_task");
  MAILBOX_FIND(spin_until, "weft_spin_until");
  MAILBOX_FIND(yield_task, "weft_yield");
  MAILBOX_FIND(register_service, "weft_register_polling_service");
  MAILBOX_FIND(unregister_service, "weft_unregister_polling_service");
  MAILBOX_FIND(poll_soon, "weft_poll_soon");
  MAILBOX_FIND(get_event_counter, "weft_get_current_event_counter");
  MAILBOX_FIND(increase_events, "weft_increase_current_task_event_counter");
  MAILBOX_FIND(decrease_events, "weft_decrease_task_event_counter");
  if (register_service("mailbox", deliver, 0) != 0) abort();
}

#endif
