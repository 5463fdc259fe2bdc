// SPDX-License-Identifier: Apache-2.0
// include/weft/alpi.h: tasks for libraries of other projects that wait in them (ALPI 1.2).
#include "weft/alpi.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "base/keep_errno.h"
#include "core/api/fork.h"
#include "openmp/abi/abi.h"
#include "openmp/api/thread_ids.h"
#include "openmp/task/spawned.h"
#include "openmp/task/task.h"
#include "openmp/task/task_pause.h"
#include "openmp/task/timed_wait.h"
#include "openmp/tool/entry.h"
#include "platform/cpus.h"
#include "platform/cycles.h"

using namespace weft;
using namespace weft::openmp;

// There is nothing to say of a task yet.
struct alpi_attr {
  uint64_t reserved;
};

namespace {

constexpr int kFeatures = ALPI_FEATURE_BLOCKING | ALPI_FEATURE_EVENTS | ALPI_FEATURE_RESOURCES | ALPI_FEATURE_SUSPEND;
constexpr uint64_t kMostEvents = INT_MAX / 2;

Task* task_of(alpi_task* handle) noexcept { return reinterpret_cast<Task*>(handle); }

// Whether it is what the caller runs.
bool is_own(const Member* member, alpi_task* handle) noexcept {
  return handle != nullptr && member->task == task_of(handle);
}

int version_check(int major, int minor) noexcept {
  return major == ALPI_VERSION_MAJOR && minor >= 0 && minor <= ALPI_VERSION_MINOR ? ALPI_SUCCESS : ALPI_ERR_VERSION;
}

const char* info_of(alpi_info_t query) noexcept {
  switch (query) {
    case ALPI_INFO_RUNTIME_NAME:
    case ALPI_INFO_RUNTIME_VENDOR: return "weft";
    case ALPI_INFO_VERSION: return "ALPI 1.2 (weft " WEFT_VERSION ")";
  }
  return nullptr;
}

}  // namespace

WEFT_ABI(const char*, alpi_error_string)(alpi_error_t error) {
  static constexpr std::array<const char*, ALPI_ERR_MAX> kTexts = {
      "success",
      "the runtime has another version of the interface",
      "the runtime has not been initialized",
      "an argument is not valid",
      "there is no memory left",
      "the caller is no task",
      "the runtime cannot do it; it may have said why",
      "the runtime does not have that feature",
  };
  const auto index = static_cast<size_t>(error);
  return index < kTexts.size() ? kTexts[index] : "no error code of this interface";
}

WEFT_ABI(int, alpi_info_get)(alpi_info_t query, char* buffer, size_t size, int* length) {
  const char* text = info_of(query);
  if (text == nullptr || buffer == nullptr || size == 0) return ALPI_ERR_PARAMETER;
  const size_t copied = std::min(std::strlen(text), size - 1);
  std::memcpy(buffer, text, copied);
  buffer[copied] = '\0';
  if (length != nullptr) *length = static_cast<int>(copied);
  return ALPI_SUCCESS;
}

WEFT_ABI(int, alpi_feature_check)(int features) {
  return (features & ~kFeatures) == 0 ? ALPI_SUCCESS : ALPI_ERR_FEATURE_UNKNOWN;
}

// What libraries call first: from now on tasks may be paused.
WEFT_ABI(int, alpi_version_check)(int major, int minor) {
  const base::KeepErrno keep;
  let_tasks_pause();
  return version_check(major, minor);
}

WEFT_ABI(int, alpi_version_get)(int* major, int* minor) {
  if (major == nullptr || minor == nullptr) return ALPI_ERR_PARAMETER;
  *major = ALPI_VERSION_MAJOR;
  *minor = ALPI_VERSION_MINOR;
  return ALPI_SUCCESS;
}

WEFT_ABI(int, alpi_task_self)(alpi_task** task) {
  if (task == nullptr) return ALPI_ERR_PARAMETER;
  const base::KeepErrno keep;
  *task = reinterpret_cast<alpi_task*>(member_to_pause()->task);
  return ALPI_SUCCESS;
}

WEFT_ABI(int, alpi_task_block)(alpi_task* task) {
  const base::KeepErrno keep;
  Member* member = member_to_pause();
  if (!is_own(member, task)) return ALPI_ERR_PARAMETER;
  block_task(member, task_of(task));
  return ALPI_SUCCESS;
}

WEFT_ABI(int, alpi_task_unblock)(alpi_task* task) {
  if (task == nullptr) return ALPI_ERR_PARAMETER;
  const base::KeepErrno keep;
  unblock_task(task_of(task));
  return ALPI_SUCCESS;
}

WEFT_ABI(int, alpi_task_waitfor_ns)(uint64_t wanted_ns, uint64_t* waited_ns) {
  const base::KeepErrno keep;
  Member* member = member_to_pause();
  const int64_t began_ns = platform::now_ns();
  if (wanted_ns == 0) {
    yield_task(member);
  } else {
    pause_for(member, static_cast<int64_t>(std::min<uint64_t>(wanted_ns, INT64_MAX)));
  }
  if (waited_ns != nullptr) *waited_ns = static_cast<uint64_t>(platform::now_ns() - began_ns);
  return ALPI_SUCCESS;
}

WEFT_ABI(int, alpi_task_events_increase)(alpi_task* task, uint64_t count) {
  const base::KeepErrno keep;
  Member* member = member_to_pause();
  if (!is_own(member, task) || count > kMostEvents) return ALPI_ERR_PARAMETER;
  if (count != 0) expect_events(member, task_of(task), static_cast<int>(count));
  return ALPI_SUCCESS;
}

WEFT_ABI(int, alpi_task_events_decrease)(alpi_task* task, uint64_t count) {
  if (task == nullptr || count > kMostEvents) return ALPI_ERR_PARAMETER;
  const base::KeepErrno keep;
  if (count != 0) events_come(task_of(task), static_cast<int>(count));
  return ALPI_SUCCESS;
}

WEFT_ABI(int, alpi_task_events_test)(alpi_task* task, uint64_t* some) {
  if (task == nullptr || some == nullptr) return ALPI_ERR_PARAMETER;
  *some = expects_events(task_of(task)) ? 1 : 0;
  return ALPI_SUCCESS;
}

WEFT_ABI(int, alpi_task_suspend_mode_set)(alpi_task* task, alpi_suspend_mode_t mode, uint64_t argument) {
  const base::KeepErrno keep;
  // OpenMP's own tasks end with their body.
  if (!is_own(member_to_pause(), task) || !is_spawned(task_of(task))) return ALPI_ERR_PARAMETER;
  switch (mode) {
    case ALPI_SUSPEND_NONE: set_suspend_mode(task_of(task), SuspendMode::none, 0); return ALPI_SUCCESS;
    case ALPI_SUSPEND_SUBMIT: set_suspend_mode(task_of(task), SuspendMode::submit, 0); return ALPI_SUCCESS;
    case ALPI_SUSPEND_TIMEOUT_SUBMIT:
      set_suspend_mode(task_of(task), SuspendMode::timeout, argument);
      return ALPI_SUCCESS;
    case ALPI_SUSPEND_EVENT_SUBMIT: set_suspend_mode(task_of(task), SuspendMode::events, 0); return ALPI_SUCCESS;
  }
  return ALPI_ERR_PARAMETER;
}

WEFT_ABI(int, alpi_task_suspend)(alpi_task* task) {
  const base::KeepErrno keep;
  if (!is_own(member_to_pause(), task) || !is_spawned(task_of(task))) return ALPI_ERR_PARAMETER;
  suspend_after_body(task_of(task));
  return ALPI_SUCCESS;
}

WEFT_ABI(int, alpi_task_spawn)(void (*body)(void*), void* argument, void (*completed)(void*), void* completed_argument,
                               const char* /*label*/, const alpi_attr* /*attr*/) {
  if (body == nullptr) return ALPI_ERR_PARAMETER;
  const base::KeepErrno keep;
  const tool::Entry entry(WEFT_CALLER);
  let_tasks_pause();
  spawn_task({body, argument, completed, completed_argument});
  return ALPI_SUCCESS;
}

WEFT_ABI(int, alpi_attr_create)(alpi_attr** attr) {
  if (attr == nullptr) return ALPI_ERR_PARAMETER;
  *attr = static_cast<alpi_attr*>(std::calloc(1, sizeof(alpi_attr)));
  return *attr != nullptr ? ALPI_SUCCESS : ALPI_ERR_OUT_OF_MEMORY;
}

WEFT_ABI(int, alpi_attr_destroy)(alpi_attr* attr) {
  if (attr == nullptr) return ALPI_ERR_PARAMETER;
  std::free(attr);
  return ALPI_SUCCESS;
}

WEFT_ABI(int, alpi_attr_init)(alpi_attr* attr) {
  if (attr == nullptr) return ALPI_ERR_PARAMETER;
  attr->reserved = 0;
  return ALPI_SUCCESS;
}

WEFT_ABI(int, alpi_attr_size)(uint64_t* size) {
  if (size == nullptr) return ALPI_ERR_PARAMETER;
  *size = sizeof(alpi_attr);
  return ALPI_SUCCESS;
}

WEFT_ABI(int, alpi_cpu_count)(uint64_t* count) {
  if (count == nullptr) return ALPI_ERR_PARAMETER;
  const base::KeepErrno keep;
  member_to_pause();
  *count = static_cast<uint64_t>(thread_id_count(core::slots()));
  return ALPI_SUCCESS;
}

WEFT_ABI(int, alpi_cpu_logical_id)(uint64_t* id) {
  if (id == nullptr) return ALPI_ERR_PARAMETER;
  const base::KeepErrno keep;
  member_to_pause();
  const int mine = thread_id();
  if (mine < 0) return ALPI_ERR_UNKNOWN;
  *id = static_cast<uint64_t>(mine);
  return ALPI_SUCCESS;
}

WEFT_ABI(int, alpi_cpu_system_id)(uint64_t* id) {
  if (id == nullptr) return ALPI_ERR_PARAMETER;
  *id = static_cast<uint64_t>(platform::current_cpu());
  return ALPI_SUCCESS;
}
