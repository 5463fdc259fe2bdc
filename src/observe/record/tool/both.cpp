// SPDX-License-Identifier: Apache-2.0
#include "observe/record/tool/both.h"

#include <new>

#include "observe/record/profile/events.h"
#include "observe/record/trace/events.h"

namespace weft::observe {

namespace {

const Events& profile() noexcept { return kProfileEvents; }
const Events& trace_of() noexcept { return trace::kTraceEvents; }

// A tool has one word for each region and task. Here it is the address of two.
struct Words {
  ompt_data_t profile{};
  ompt_data_t trace{};
};

Words* words_of(const ompt_data_t* data) noexcept { return data != nullptr ? static_cast<Words*>(data->ptr) : nullptr; }

// Without memory nothing is known of the region or task: each sink has an empty word.
class Word {
 public:
  explicit Word(const ompt_data_t* data) noexcept : is_there_(data != nullptr) {
    if (Words* words = words_of(data); words != nullptr) words_ = words;
  }
  ompt_data_t* profile() noexcept { return is_there_ ? &words_->profile : nullptr; }
  ompt_data_t* trace() noexcept { return is_there_ ? &words_->trace : nullptr; }

 private:
  const bool is_there_;
  Words empty_;
  Words* words_ = &empty_;
};

void make_words(ompt_data_t* data) noexcept { data->ptr = new (std::nothrow) Words; }
void forget_words(ompt_data_t* data) noexcept {
  delete words_of(data);
  data->ptr = nullptr;
}

// One whose words neither sink looks at.
template <auto event, class... Arguments>
void to_both(Arguments... arguments) {
  (profile().*event)(arguments...);
  (trace_of().*event)(arguments...);
}

void on_parallel_begin(ompt_data_t* encountering, const ompt_frame_t* frame, ompt_data_t* parallel, unsigned requested,
                       int flags, const void* caller) {
  make_words(parallel);
  Word word(parallel);
  profile().parallel_begin(encountering, frame, word.profile(), requested, flags, caller);
  if (words_of(parallel) != nullptr) {
    trace_of().parallel_begin(encountering, frame, word.trace(), requested, flags, caller);
  }
}

void on_parallel_end(ompt_data_t* parallel, ompt_data_t* encountering, int flags, const void* caller) {
  Word word(parallel);
  profile().parallel_end(word.profile(), encountering, flags, caller);
  trace_of().parallel_end(word.trace(), encountering, flags, caller);
  forget_words(parallel);
}

void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t* task, unsigned size,
                      unsigned number, int flags) {
  if (endpoint == ompt_scope_begin) make_words(task);
  // At the end of a member its region may be gone.
  Word region(endpoint == ompt_scope_begin ? parallel : nullptr);
  Word word(task);
  profile().implicit_task(endpoint, region.profile(), word.profile(), size, number, flags);
  trace_of().implicit_task(endpoint, region.trace(), word.trace(), size, number, flags);
  if (endpoint == ompt_scope_end) forget_words(task);
}

void on_task_create(ompt_data_t* encountering, const ompt_frame_t* frame, ompt_data_t* task, int flags,
                    int has_dependences, const void* caller) {
  make_words(task);
  Word word(task);
  profile().task_create(encountering, frame, word.profile(), flags, has_dependences, caller);
  if (words_of(task) != nullptr) {
    trace_of().task_create(encountering, frame, word.trace(), flags, has_dependences, caller);
  }
}

void on_task_schedule(ompt_data_t* prior, ompt_task_status_t status, ompt_data_t* next) {
  Word ending(prior);
  Word beginning(next);
  profile().task_schedule(ending.profile(), status, beginning.profile());
  trace_of().task_schedule(ending.trace(), status, beginning.trace());
  if (ends_task(status)) forget_words(prior);
}

void on_loop(ompt_data_t* parallel, const weft_loop_totals_t* totals) {
  Word word(parallel);
  profile().loop(word.profile(), totals);
  trace_of().loop(word.trace(), totals);
}

ompt_get_parallel_info_t g_parallel_info = nullptr;

int parallel_info_of_trace(int level, ompt_data_t** parallel, int* size) {
  const int found = g_parallel_info(level, parallel, size);
  if (parallel == nullptr || *parallel == nullptr) return found;
  Words* words = words_of(*parallel);
  *parallel = words != nullptr ? &words->trace : nullptr;
  return found;
}

}  // namespace

const Events kEventsOfBoth = {
    .thread_begin = to_both<&Events::thread_begin>,
    .thread_end = to_both<&Events::thread_end>,
    .parallel_begin = on_parallel_begin,
    .parallel_end = on_parallel_end,
    .implicit_task = on_implicit_task,
    .task_create = on_task_create,
    .task_schedule = on_task_schedule,
    .sync_region_wait = to_both<&Events::sync_region_wait>,
    .work = to_both<&Events::work>,
    .dispatch = kProfileEvents.dispatch,
    .masked = to_both<&Events::masked>,
    .mutex_acquire = to_both<&Events::mutex_acquire>,
    .mutex_acquired = to_both<&Events::mutex_acquired>,
    .mutex_released = to_both<&Events::mutex_released>,
    .nest_lock = to_both<&Events::nest_lock>,
    .loop = on_loop,
    .call = kProfileEvents.call,
    .region_of_library = kProfileEvents.region_of_library,
    .change_of_carrier = to_both<&Events::change_of_carrier>,
    .chunks_unwatched = kProfileEvents.chunks_unwatched,
    .chunks_left = kProfileEvents.chunks_left,
};

RuntimeCalls calls_for_trace(const RuntimeCalls& runtime) noexcept {
  g_parallel_info = runtime.parallel_info;
  RuntimeCalls calls = runtime;
  calls.parallel_info = parallel_info_of_trace;
  return calls;
}

}  // namespace weft::observe
