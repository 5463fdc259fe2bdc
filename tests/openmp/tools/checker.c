// SPDX-License-Identifier: Apache-2.0
// A tool that checks what it is told: that events pair and nest, that threads, regions and tasks begin and end in order,
// and that the data handed back are those it has set. The first mistake is printed and ends the program.
//   CHECKER_EXPECT  names of events, and of the kinds below, with commas between: each must have come by the end, or the
//                   exit status is 97
//   CHECKER_ADDRESSES  if set: no return address may lie in the runtime. Not for programs whose compiler makes jumps of last
//                   calls: these return to whoever called the function
//   CHECKER_TELLS  N: of N regions one is told, of the others nothing; mutexes may be given back where nothing is told
#define _GNU_SOURCE
#include "weft/omp-tools.h"
#include "weft/weft-tools.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- what is known ----

enum { THREAD = 0x74687264, REGION = 0x7265676e, TASK = 0x7461736b };

struct region {
  int kind;
  const void *encountering;
  int flags;
  atomic_int begun, ended;
  int size;
  int is_loop;  // weftcc's: members may be left out
  atomic_uint_fast64_t ranges, iterations;  // dispatched in it
  atomic_uchar seen[1024];
};

enum progress { CREATED, RUNNING, DETACHED, OVER };

struct task {
  int kind;
  _Atomic enum progress progress;
  struct region *region;
};

// Something open in a thread: what was said when it began.
struct scope {
  int event;
  int what;
  const void *task;
  uint64_t count;
};

enum { MOST = 4096 };
struct thread {
  int kind;
  int depth, tasks, held;
  struct scope open[MOST];
  struct task *running[MOST];
  ompt_wait_id_t mutexes[MOST];
};

static __thread struct thread *me;
static atomic_int seen[64];

// Kinds of events that may be asked for by a name of their own.
enum kind { SOURCE, SINK, MUTEXINOUTSET, CHUNK, DISCARDED, YIELD, SCOPE, LOOP, LEFT_OUT, UNTOLD, KINDS };
static const char *const kind_names[KINDS] = {"source", "sink", "mutexinoutset", "taskloop_chunk", "discarded_task", "yield",
                                              "scope", "loop", "left_out", "untold"};
static atomic_int seen_kinds[KINDS];
static int tells = 1;  // CHECKER_TELLS
static __thread int untold;  // regions that the caller has opened and of which nothing is told
static void *runtime;  // where it is loaded; null: addresses are not checked

static ompt_get_thread_data_t get_thread_data;
static ompt_get_task_info_t get_task_info;
static ompt_get_parallel_info_t get_parallel_info;
static ompt_get_state_t get_state;
static ompt_get_proc_id_t get_proc_id;
static ompt_finalize_tool_t finalize_tool;

__attribute__((format(printf, 1, 2))) static void wrong(const char *format, ...)
{
  char text[500];
  va_list list;
  va_start(list, format);
  int length = vsnprintf(text, sizeof text - 20, format, list);
  va_end(list);
  text[length] = '\n';
  if (write(2, "checker: ", 9) + write(2, text, (size_t)length + 1) < 0) _exit(98);
  abort();
}

static void event(int number)
{
  atomic_fetch_add(&seen[number], 1);
  if (!me) wrong("event %d in a thread that has not begun", number);
  ompt_data_t *data = get_thread_data();
  if (!data || data->ptr != me) wrong("event %d: ompt_get_thread_data is not what was set", number);
}

static void met(enum kind kind) { atomic_store(&seen_kinds[kind], 1); }

// A return address: in the program or in one of its libraries, never in the runtime.
static void is_program(const void *codeptr, const char *where)
{
  enum { KNOWN = 64 };
  static __thread const void *known[KNOWN];
  if (!codeptr) wrong("%s: no return address", where);
  if (!runtime) return;
  const void **at = &known[(uintptr_t)codeptr / 4 % KNOWN];
  if (*at == codeptr) return;
  Dl_info info;
  if (dladdr(codeptr, &info) && info.dli_fbase == runtime) wrong("%s: the return address is the runtime's", where);
  *at = codeptr;
}

static struct region *region_of(const ompt_data_t *data, const char *where)
{
  struct region *region = data ? data->ptr : NULL;
  if (!region || region->kind != REGION) wrong("%s: parallel_data is not what was set", where);
  return region;
}

static struct task *task_of(const ompt_data_t *data, const char *where)
{
  struct task *task = data ? data->ptr : NULL;
  if (!task || task->kind != TASK) wrong("%s: task_data is not what was set", where);
  return task;
}

static struct task *current(const char *where)
{
  if (me->tasks == 0) wrong("%s: no task runs in this thread", where);
  return me->running[me->tasks - 1];
}

static void is_current(const ompt_data_t *data, const char *where)
{
  if (task_of(data, where) != current(where)) wrong("%s: it is not the task that runs", where);
}

static void push(int number, int what, const void *task, uint64_t count)
{
  if (me->depth == MOST) wrong("%d scopes are open", MOST);
  me->open[me->depth++] = (struct scope){number, what, task, count};
}

static void pop(int number, int what, const void *task, uint64_t count)
{
  if (me->depth == 0) wrong("event %d (%d) ends and nothing is open", number, what);
  struct scope *top = &me->open[--me->depth];
  if (top->event != number || top->what != what || top->task != task || top->count != count)
    wrong("event %d (%d, count %llu) ends, but %d (%d, count %llu) is open%s", number, what, (unsigned long long)count,
          top->event, top->what, (unsigned long long)top->count, top->task == task ? "" : ", of another task");
}

static void endpoint(ompt_scope_endpoint_t at, int number, int what, const void *task, uint64_t count)
{
  if (at == ompt_scope_begin)
    push(number, what, task, count);
  else if (at == ompt_scope_end)
    pop(number, what, task, count);
  else
    wrong("event %d: endpoint %d", number, at);
}

static void begin_task(struct task *task, const char *where)
{
  if (me->tasks == MOST) wrong("%s: %d tasks on one stack", where, MOST);
  me->running[me->tasks++] = task;
}

static void end_task(const struct task *task, const char *where)
{
  if (current(where) != task) wrong("%s: another task runs", where);
  me->tasks--;
}

// ---- callbacks ----

static void on_thread_begin(ompt_thread_t kind, ompt_data_t *data)
{
  atomic_fetch_add(&seen[ompt_callback_thread_begin], 1);
  if (me) wrong("thread_begin twice");
  if (data->ptr) wrong("thread_begin: the data are not empty");
  if (kind != ompt_thread_initial && kind != ompt_thread_worker) wrong("thread_begin: type %d", kind);
  if (get_proc_id() < 0) wrong("ompt_get_proc_id: %d in a thread of OpenMP", get_proc_id());
  me = calloc(1, sizeof *me);
  me->kind = THREAD;
  data->ptr = me;
}

static void on_thread_end(ompt_data_t *data)
{
  event(ompt_callback_thread_end);
  if (data->ptr != me) wrong("thread_end: other data");
  if (me->depth || me->tasks || (me->held && tells == 1))
    wrong("thread_end: %d scopes, %d tasks, %d mutexes are open", me->depth, me->tasks, me->held);
  free(me);
  me = NULL;
}

static void on_parallel_begin(ompt_data_t *encountering, const ompt_frame_t *frame, ompt_data_t *parallel,
                              unsigned requested, int flags, const void *codeptr)
{
  event(ompt_callback_parallel_begin);
  is_current(encountering, "parallel_begin");
  if (parallel->ptr) wrong("parallel_begin: the data are not empty");
  if (requested == 0) wrong("parallel_begin: nothing requested");
  is_program(codeptr, "parallel_begin");
  if (!frame->enter_frame.ptr) wrong("parallel_begin: no enter_frame");
  int league = (flags & ompt_parallel_league) != 0, team = (flags & (int)ompt_parallel_team) != 0;
  if (league + team != 1) wrong("parallel_begin: flags %#x", (unsigned)flags);
  struct region *region = calloc(1, sizeof *region);
  region->kind = REGION;
  region->encountering = encountering->ptr;
  region->flags = flags;
  parallel->ptr = region;
  push(ompt_callback_parallel_begin, flags, region, 0);
}

static void on_parallel_end(ompt_data_t *parallel, ompt_data_t *encountering, int flags, const void *codeptr)
{
  event(ompt_callback_parallel_end);
  struct region *region = region_of(parallel, "parallel_end");
  pop(ompt_callback_parallel_begin, flags, region, 0);
  is_current(encountering, "parallel_end");
  if (region->encountering != encountering->ptr) wrong("parallel_end: another task encounters its end");
  is_program(codeptr, "parallel_end");
  if (region->begun != region->ended || (region->begun != region->size && !region->is_loop))
    wrong("parallel_end: %d tasks have begun, %d ended, of %d", region->begun, region->ended, region->size);
  region->kind = 0;
  free(region);
}

// ---- which regions are told ----

// Of the regions that are not wanted each second one is not even asked for, if its caller is the same.
static __thread weft_region_skip_t skip;
static __thread uint64_t shown;
static uint32_t skips_valid = 1;

static int on_region_wanted(const void *codeptr, weft_region_skip_t **skipped)
{
  static atomic_uint asked;
  if (!me) wrong("region_wanted: in a thread that has not begun");
  is_program(codeptr, "region_wanted");
  if (skip.inside || shown) wrong("region_wanted: a region that was not asked for has not ended");
  if (skip.left && skip.codeptr_ra == codeptr) wrong("region_wanted: asked for a region that is not wanted");
  if (atomic_fetch_add(&asked, 1) % (unsigned)tells == 0) return 1;
  untold++;
  met(UNTOLD);
  skip = (weft_region_skip_t){.codeptr_ra = codeptr, .left = 1, .shown = &shown, .toggles = 6,
                              .valid = &skips_valid, .expected = 1};
  *skipped = &skip;
  return 0;
}

static void on_region_after(void)
{
  if (untold-- == 0) wrong("region_after: none has begun");
}

// ---- which chunks are told: each third one ----

enum { CHUNKS_UNTOLD = 2 };
static __thread unsigned long chunks_untold;  // of all loops that the thread has been in

static uint32_t on_chunks_untold(void)
{
  chunks_untold += CHUNKS_UNTOLD;
  return CHUNKS_UNTOLD;
}

static void on_chunks_left(uint32_t chunks)
{
  if (chunks == 0 || chunks > CHUNKS_UNTOLD || chunks > chunks_untold) wrong("chunks_left: %u", chunks);
  chunks_untold -= chunks;
}

// Told just before parallel_end, when every member that has begun has ended.
static void on_loop(ompt_data_t *parallel, const weft_loop_totals_t *totals)
{
  met(LOOP);
  struct region *region = region_of(parallel, "loop");
  if (region->is_loop++) wrong("loop: twice");
  if (totals->members != region->begun || totals->members < 1 || totals->members > region->size)
    wrong("loop: %d members, %d have begun, of %d", totals->members, region->begun, region->size);
  if (region->begun != region->ended) wrong("loop: %d tasks have begun, %d ended", region->begun, region->ended);
  if (totals->iterations != region->iterations || totals->ranges != region->ranges)
    wrong("loop: %llu iterations in %llu ranges, but %llu in %llu were dispatched", (unsigned long long)totals->iterations,
          (unsigned long long)totals->ranges, (unsigned long long)region->iterations, (unsigned long long)region->ranges);
  if (totals->ranges_of_others > totals->ranges || (totals->members == 1 && totals->ranges_of_others))
    wrong("loop: %llu ranges of others", (unsigned long long)totals->ranges_of_others);
  if (totals->whole && totals->members > 1) wrong("loop: whole, but %d members", totals->members);
  if (totals->members < region->size) met(LEFT_OUT);
}

static void on_implicit_task(ompt_scope_endpoint_t at, ompt_data_t *parallel, ompt_data_t *data, unsigned size,
                             unsigned number, int flags)
{
  event(ompt_callback_implicit_task);
  if (at == ompt_scope_begin) {
    if (data->ptr) wrong("implicit_task: the data are not empty");
    struct region *region = NULL;
    // The task around a whole thread, and that of a target region on the host, have no region that somebody opened.
    // Nor has that of a thread which runs tasks in place of a member whose task is paused: it is number 1 of one.
    if (!(flags & ompt_task_initial) || (parallel->ptr && number < size)) {
      region = region_of(parallel, "implicit_task");
      if (number >= size || size > 1024) wrong("implicit_task: number %u of %u", number, size);
      if (atomic_exchange(&region->seen[number], 1)) wrong("implicit_task: number %u twice", number);
      atomic_fetch_add(&region->begun, 1);
      region->size = (int)size;
    }
    struct task *task = calloc(1, sizeof *task);
    *task = (struct task){TASK, RUNNING, region};
    data->ptr = task;
    begin_task(task, "implicit_task");
    push(ompt_callback_implicit_task, flags, task, 0);
    ompt_data_t *told = NULL;
    int told_size = 0;
    if (get_parallel_info(0, &told, &told_size) != 2 || told != parallel) wrong("ompt_get_parallel_info: another region");
    if (!(flags & ompt_task_initial) && told_size != (int)size) wrong("ompt_get_parallel_info: %d members", told_size);
    int level = 0;
    while (get_task_info(level, NULL, NULL, NULL, NULL, NULL) == 2) level++;
    if (level == 0 || (region && level < 2)) wrong("ompt_get_task_info: %d tasks on the way out", level);
    return;
  }
  if (parallel || size != 0) wrong("implicit_task: its end names a region, or a size");
  struct task *task = task_of(data, "implicit_task");
  pop(ompt_callback_implicit_task, flags, task, 0);
  end_task(task, "implicit_task");
  if (task->region) {
    atomic_fetch_add(&task->region->ended, 1);
  }
  task->kind = 0;
  free(task);
}

static void on_task_create(ompt_data_t *encountering, const ompt_frame_t *frame, ompt_data_t *data, int flags,
                           int has_dependences, const void *codeptr)
{
  event(ompt_callback_task_create);
  is_current(encountering, "task_create");
  if (data->ptr) wrong("task_create: the data are not empty");
  is_program(codeptr, "task_create");
  if (!frame->enter_frame.ptr) wrong("task_create: no enter_frame");
  if (!(flags & (ompt_task_explicit | ompt_task_taskwait))) wrong("task_create: flags %#x", (unsigned)flags);
  (void)has_dependences;
  struct task *task = calloc(1, sizeof *task);
  *task = (struct task){TASK, CREATED, NULL};
  data->ptr = task;
}

static void finish(struct task *task)
{
  task->progress = OVER;
  task->kind = 0;
  free(task);
}

static void on_task_schedule(ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *next)
{
  event(ompt_callback_task_schedule);
  struct task *task = task_of(prior, "task_schedule");
  switch (status) {
    case ompt_task_yield:
      met(YIELD);
      __attribute__((fallthrough));
    case ompt_task_switch: {
      is_current(prior, "task_schedule");
      struct task *other = task_of(next, "task_schedule");
      if (other->progress != CREATED) wrong("task_schedule: the next task has been run");
      other->progress = RUNNING;
      begin_task(other, "task_schedule");
      ompt_data_t *told = NULL;
      if (get_task_info(0, NULL, &told, NULL, NULL, NULL) != 2 || told != next)
        wrong("task_schedule: ompt_get_task_info names another task");
      return;
    }
    case ompt_task_complete:
    case ompt_task_cancel:
    case ompt_task_detach:
      if (task->progress != RUNNING) wrong("task_schedule: %d of a task that does not run", status);
      end_task(task, "task_schedule");
      is_current(next, "the end of a task");
      if (status != ompt_task_detach)
        finish(task);
      else
        task->progress = DETACHED;
      return;
    case ompt_task_late_fulfill:
      if (task->progress != DETACHED) wrong("task_schedule: late_fulfill of a task in state %d", task->progress);
      finish(task);
      return;
    case ompt_task_early_fulfill:
      if (task->progress == OVER) wrong("task_schedule: early_fulfill of a task that is over");
      return;
    case ompt_taskwait_complete:
      if (task->progress != CREATED) wrong("task_schedule: taskwait_complete of a task that runs");
      finish(task);
      return;
    default: wrong("task_schedule: status %d", status);
  }
}

static void on_dependences(ompt_data_t *data, const ompt_dependence_t *list, int count)
{
  event(ompt_callback_dependences);
  if (count < 1) wrong("dependences: %d of them", count);
  // Those of a doacross loop are the running task's.
  int doacross = list[0].dependence_type == ompt_dependence_type_source || list[0].dependence_type == ompt_dependence_type_sink;
  if (doacross)
    is_current(data, "dependences");
  else if (task_of(data, "dependences")->progress != CREATED)
    wrong("dependences: the task runs already");
  for (int i = 0; i < count; i++) {
    if (list[i].dependence_type < ompt_dependence_type_in) wrong("dependences: type %d", list[i].dependence_type);
    if (doacross && list[i].dependence_type != list[0].dependence_type) wrong("dependences: source and sink at once");
    if (list[i].dependence_type == ompt_dependence_type_mutexinoutset) met(MUTEXINOUTSET);
  }
  if (doacross) met(list[0].dependence_type == ompt_dependence_type_source ? SOURCE : SINK);
}

static void on_task_dependence(ompt_data_t *from, ompt_data_t *to)
{
  event(ompt_callback_task_dependence);
  if (task_of(from, "task_dependence") == task_of(to, "task_dependence")) wrong("task_dependence: on itself");
}

static int is_wait(int state) { return state >= ompt_state_wait_barrier && state < ompt_state_wait_mutex; }

static void on_sync_region(ompt_sync_region_t kind, ompt_scope_endpoint_t at, ompt_data_t *parallel, ompt_data_t *data,
                           const void *codeptr)
{
  event(ompt_callback_sync_region);
  is_current(data, "sync_region");
  is_program(codeptr, "sync_region");
  (void)parallel;
  endpoint(at, ompt_callback_sync_region, (int)kind, data->ptr, 0);
}

static void on_sync_region_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t at, ompt_data_t *parallel,
                                ompt_data_t *data, const void *codeptr)
{
  event(ompt_callback_sync_region_wait);
  is_current(data, "sync_region_wait");
  (void)parallel;
  (void)codeptr;
  struct scope *top = me->depth ? &me->open[me->depth - 1] : NULL;
  if (at == ompt_scope_begin && (!top || top->event != ompt_callback_sync_region || top->what != (int)kind))
    wrong("sync_region_wait %d outside of its region", kind);
  endpoint(at, ompt_callback_sync_region_wait, (int)kind, data->ptr, 0);
  ompt_wait_id_t id;
  if (at == ompt_scope_end && is_wait(get_state(&id)) && me->depth < 2) wrong("sync_region_wait: still waiting");
}

static void on_reduction(ompt_sync_region_t kind, ompt_scope_endpoint_t at, ompt_data_t *parallel, ompt_data_t *data,
                         const void *codeptr)
{
  event(ompt_callback_reduction);
  is_current(data, "reduction");
  if (kind != ompt_sync_region_reduction) wrong("reduction: kind %d", kind);
  (void)parallel;
  (void)codeptr;
  endpoint(at, ompt_callback_reduction, (int)kind, data->ptr, 0);
}

static void on_work(ompt_work_t kind, ompt_scope_endpoint_t at, ompt_data_t *parallel, ompt_data_t *data,
                    uint64_t count, const void *codeptr)
{
  event(ompt_callback_work);
  is_current(data, "work");
  is_program(codeptr, "work");
  if (kind == ompt_work_scope) met(SCOPE);
  (void)parallel;
  endpoint(at, ompt_callback_work, (int)kind, data->ptr, count);
}

static void on_dispatch(ompt_data_t *parallel, ompt_data_t *data, ompt_dispatch_t kind, ompt_data_t instance)
{
  event(ompt_callback_dispatch);
  is_current(data, "dispatch");
  (void)parallel;
  if (kind == ompt_dispatch_taskloop_chunk) {
    met(CHUNK);
    if (((const ompt_dispatch_chunk_t *)instance.ptr)->iterations == 0) wrong("dispatch: a chunk of nothing");
    return;
  }
  struct scope *top = me->depth ? &me->open[me->depth - 1] : NULL;
  if (!top || top->event != ompt_callback_work) wrong("dispatch outside of work");
  if (kind == ompt_dispatch_section ? top->what != ompt_work_sections : top->what == ompt_work_sections)
    wrong("dispatch %d in work %d", kind, top->what);
  if (kind == ompt_dispatch_ws_loop_chunk || kind == ompt_dispatch_distribute_chunk) {
    const ompt_dispatch_chunk_t *chunk = instance.ptr;
    if (chunk->iterations == 0 || chunk->iterations > top->count)
      wrong("dispatch: %llu iterations of %llu", (unsigned long long)chunk->iterations, (unsigned long long)top->count);
    struct region *region = current("dispatch")->region;
    if (region) {
      atomic_fetch_add(&region->ranges, 1);
      atomic_fetch_add(&region->iterations, chunk->iterations);
    }
  }
}

static void on_masked(ompt_scope_endpoint_t at, ompt_data_t *parallel, ompt_data_t *data, const void *codeptr)
{
  event(ompt_callback_masked);
  is_current(data, "masked");
  is_program(codeptr, "masked");
  (void)parallel;
  endpoint(at, ompt_callback_masked, 0, data->ptr, 0);
}

static void on_mutex_acquire(ompt_mutex_t kind, unsigned hint, unsigned implementation, ompt_wait_id_t id,
                             const void *codeptr)
{
  event(ompt_callback_mutex_acquire);
  (void)hint;
  if (!id || !implementation) wrong("mutex_acquire %d: incomplete", kind);
  is_program(codeptr, "mutex_acquire");
}

static void on_mutex_acquired(ompt_mutex_t kind, ompt_wait_id_t id, const void *codeptr)
{
  event(ompt_callback_mutex_acquired);
  (void)kind;
  is_program(codeptr, "mutex_acquired");
  if (me->held == MOST) wrong("%d mutexes held", MOST);
  me->mutexes[me->held++] = id;
}

static int holds(ompt_wait_id_t id)
{
  for (int i = me->held; i-- > 0;)
    if (me->mutexes[i] == id) return i;
  return -1;
}

static void on_mutex_released(ompt_mutex_t kind, ompt_wait_id_t id, const void *codeptr)
{
  event(ompt_callback_mutex_released);
  (void)codeptr;
  int at = holds(id);
  if (at < 0 && tells == 1) wrong("mutex_released %d: this thread does not hold it", kind);
  if (at >= 0) me->mutexes[at] = me->mutexes[--me->held];
}

static void on_nest_lock(ompt_scope_endpoint_t at, ompt_wait_id_t id, const void *codeptr)
{
  event(ompt_callback_nest_lock);
  (void)codeptr;
  if (holds(id) < 0 && tells == 1) wrong("nest_lock %d: this thread does not hold it", at);
}

static void on_lock_init(ompt_mutex_t kind, unsigned hint, unsigned implementation, ompt_wait_id_t id,
                         const void *codeptr)
{
  event(ompt_callback_lock_init);
  (void)hint;
  (void)implementation;
  (void)codeptr;
  if ((kind != ompt_mutex_lock && kind != ompt_mutex_nest_lock) || !id) wrong("lock_init: kind %d", kind);
}

static void on_lock_destroy(ompt_mutex_t kind, ompt_wait_id_t id, const void *codeptr)
{
  event(ompt_callback_lock_destroy);
  (void)codeptr;
  if ((kind != ompt_mutex_lock && kind != ompt_mutex_nest_lock) || !id) wrong("lock_destroy: kind %d", kind);
}

static void on_flush(ompt_data_t *data, const void *codeptr)
{
  event(ompt_callback_flush);
  if (data->ptr != me) wrong("flush: other data");
  is_program(codeptr, "flush");
}

static void on_cancel(ompt_data_t *data, int flags, const void *codeptr)
{
  event(ompt_callback_cancel);
  is_current(data, "cancel");
  const int what = flags & (ompt_cancel_activated | ompt_cancel_detected | ompt_cancel_discarded_task);
  if (!(flags & 0xf) || !what || (what & (what - 1))) wrong("cancel: flags %d", flags);
  if (what != ompt_cancel_discarded_task) {
    is_program(codeptr, "cancel");
    return;
  }
  met(DISCARDED);
  if (codeptr) wrong("cancel: a return address where a task is discarded");
}

// A program that asks for 3 gets 7; one that asks for 5 ends the tool.
static int on_control_tool(uint64_t command, uint64_t modifier, void *argument, const void *codeptr)
{
  event(ompt_callback_control_tool);
  is_program(codeptr, "control_tool");
  (void)modifier;
  (void)argument;
  if (command == 5) finalize_tool();
  return command == 3 ? 7 : 0;
}

// ---- start and end ----

static const struct {
  const char *name;
  ompt_callbacks_t event;
  ompt_callback_t function;
  ompt_set_result_t answer;
} callbacks[] = {
#define CALLBACK(name, answer) {#name, ompt_callback_##name, (ompt_callback_t)on_##name, answer}
    CALLBACK(thread_begin, ompt_set_always),
    CALLBACK(thread_end, ompt_set_always),
    CALLBACK(parallel_begin, ompt_set_always),
    CALLBACK(parallel_end, ompt_set_always),
    CALLBACK(implicit_task, ompt_set_always),
    CALLBACK(task_create, ompt_set_always),
    CALLBACK(task_schedule, ompt_set_always),
    CALLBACK(dependences, ompt_set_always),
    CALLBACK(task_dependence, ompt_set_sometimes),
    CALLBACK(sync_region, ompt_set_always),
    CALLBACK(sync_region_wait, ompt_set_always),
    CALLBACK(reduction, ompt_set_sometimes_paired),
    CALLBACK(work, ompt_set_sometimes_paired),
    CALLBACK(dispatch, ompt_set_sometimes),
    CALLBACK(masked, ompt_set_sometimes_paired),
    CALLBACK(mutex_acquire, ompt_set_always),
    CALLBACK(mutex_acquired, ompt_set_always),
    CALLBACK(mutex_released, ompt_set_always),
    CALLBACK(nest_lock, ompt_set_always),
    CALLBACK(lock_init, ompt_set_always),
    CALLBACK(lock_destroy, ompt_set_always),
    CALLBACK(flush, ompt_set_sometimes),
    CALLBACK(cancel, ompt_set_always),
    CALLBACK(control_tool, ompt_set_always),
};
enum { CALLBACKS = sizeof callbacks / sizeof *callbacks };

static ompt_interface_fn_t find(ompt_function_lookup_t lookup, const char *name)
{
  ompt_interface_fn_t function = lookup(name);
  if (!function) wrong("lookup does not find %s", name);
  return function;
}

static void check_inquiry(ompt_function_lookup_t lookup)
{
  ompt_get_callback_t get_callback = (ompt_get_callback_t)find(lookup, "ompt_get_callback");
  ompt_callback_t registered = NULL;
  if (!get_callback(ompt_callback_work, &registered) || registered != (ompt_callback_t)on_work)
    wrong("ompt_get_callback does not return what was set");
  if (get_callback(ompt_callback_target_emi, &registered)) wrong("ompt_get_callback: a callback for devices");

  ompt_enumerate_states_t states = (ompt_enumerate_states_t)find(lookup, "ompt_enumerate_states");
  int state = ompt_state_undefined, number = 0;
  const char *name = NULL;
  while (states(state, &state, &name)) number++;
  if (number < 10 || !name || strncmp(name, "ompt_state_", 11)) wrong("ompt_enumerate_states: %d states", number);
  ompt_enumerate_mutex_impls_t mutexes = (ompt_enumerate_mutex_impls_t)find(lookup, "ompt_enumerate_mutex_impls");
  int implementation = ompt_mutex_impl_none;
  if (!mutexes(implementation, &implementation, &name) || implementation == 0) wrong("ompt_enumerate_mutex_impls");

  ompt_get_unique_id_t unique = (ompt_get_unique_id_t)find(lookup, "ompt_get_unique_id");
  if (unique() == unique()) wrong("ompt_get_unique_id: the same twice");
  if (((ompt_get_num_procs_t)find(lookup, "ompt_get_num_procs"))() < 1) wrong("ompt_get_num_procs");
  if (get_proc_id() != -1) wrong("ompt_get_proc_id: %d in a thread that has not begun", get_proc_id());
  if (((ompt_get_num_devices_t)find(lookup, "ompt_get_num_devices"))() != 0) wrong("ompt_get_num_devices");
  const char *others[] = {"ompt_get_task_memory", "ompt_get_num_places", "ompt_get_place_proc_ids",
                          "ompt_get_place_num", "ompt_get_partition_place_nums", "ompt_get_target_info"};
  for (unsigned i = 0; i < sizeof others / sizeof *others; i++) find(lookup, others[i]);
  if (lookup("ompt_no_such_function")) wrong("lookup finds what there is not");
}

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *tool_data)
{
  if (device != 0) wrong("initial device %d", device);
  Dl_info info;
  if (!dladdr((void *)lookup, &info)) wrong("where the runtime is loaded is not known");
  if (getenv("CHECKER_ADDRESSES")) runtime = info.dli_fbase;
  ompt_set_callback_t set_callback = (ompt_set_callback_t)find(lookup, "ompt_set_callback");
  get_thread_data = (ompt_get_thread_data_t)find(lookup, "ompt_get_thread_data");
  get_task_info = (ompt_get_task_info_t)find(lookup, "ompt_get_task_info");
  get_parallel_info = (ompt_get_parallel_info_t)find(lookup, "ompt_get_parallel_info");
  get_state = (ompt_get_state_t)find(lookup, "ompt_get_state");
  get_proc_id = (ompt_get_proc_id_t)find(lookup, "ompt_get_proc_id");
  finalize_tool = (ompt_finalize_tool_t)find(lookup, "ompt_finalize_tool");
  ((weft_set_loop_callback_t)find(lookup, "weft_set_loop_callback"))(on_loop);
  if (getenv("CHECKER_TELLS")) {
    tells = atoi(getenv("CHECKER_TELLS"));
    ((weft_set_region_filter_t)find(lookup, "weft_set_region_filter"))(on_region_wanted, on_region_after);
    ((weft_set_chunk_filter_t)find(lookup, "weft_set_chunk_filter"))(on_chunks_untold, on_chunks_left);
  }
  for (int i = 0; i < CALLBACKS; i++) {
    ompt_set_result_t answer = set_callback(callbacks[i].event, callbacks[i].function);
    if (answer != callbacks[i].answer) wrong("ompt_set_callback(%s) says %d", callbacks[i].name, answer);
  }
  if (set_callback(ompt_callback_target_emi, (ompt_callback_t)on_work) != ompt_set_never)
    wrong("ompt_set_callback(target_emi) promises something");
  if (set_callback((ompt_callbacks_t)99, (ompt_callback_t)on_work) != ompt_set_error)
    wrong("ompt_set_callback takes event 99");
  check_inquiry(lookup);
  tool_data->value = 4711;
  return 1;
}

static void finalize(ompt_data_t *tool_data)
{
  if (tool_data->value != 4711) wrong("finalize: the tool's data are not what was set");
  const char *expected = getenv("CHECKER_EXPECT");
  char *list = expected ? strdup(expected) : NULL;
  char *rest = list;
  for (char *name; rest && (name = strsep(&rest, ","));) {
    int missing = 0;
    for (int i = 0; i < CALLBACKS; i++) missing |= !strcmp(callbacks[i].name, name) && !atomic_load(&seen[callbacks[i].event]);
    for (int i = 0; i < KINDS; i++) missing |= !strcmp(kind_names[i], name) && !atomic_load(&seen_kinds[i]);
    if (!missing) continue;
    fprintf(stderr, "checker: no event %s\n", name);
    _exit(97);
  }
  free(list);
}

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
  static ompt_start_tool_result_t result = {initialize, finalize, {0}};
  if (version < 201511) wrong("version %u", version);
  if (!runtime || strncmp(runtime, "weft ", 5)) wrong("runtime %s", runtime ? runtime : "(none)");
  return &result;
}
