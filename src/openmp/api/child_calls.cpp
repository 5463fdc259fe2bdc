// SPDX-License-Identifier: Apache-2.0
#include "openmp/api/child_calls.h"

#include <cstdio>
#include <iterator>
#include <new>
#include <optional>

#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "base/keep_errno.h"
#include "core/api/records.h"
#include "core/api/thread.h"
#include "openmp/affinity/affinity.h"
#include "openmp/affinity/team_affinity.h"
#include "platform/cpu_set.h"
#include "platform/libc_calls.h"

namespace weft::openmp {

namespace {

using platform::CpuSet;

// What a child of the caller is to have; null: what the OS thread has is right.
const CpuSet* mask_for_child() noexcept {
  const CpuSet* cpus = core::cpus_for_children();
  return cpus != nullptr || !root_is_bound() ? cpus : &affinity().process;
}

// The OS thread has the user's mask as long as this lives. No context leaves it meanwhile.
class UsersMask {
 public:
  UsersMask() noexcept {
    const CpuSet* wanted = mask_for_child();
    if (wanted == nullptr) return;
    const base::KeepErrno keep;
    before_ = platform::thread_cpus();
    if (*before_ == *wanted || !platform::bind_thread(*wanted)) before_.reset();
  }
  ~UsersMask() {
    const base::KeepErrno keep;
    if (before_) platform::bind_thread(*before_);
  }
  UsersMask(const UsersMask&) = delete;
  UsersMask& operator=(const UsersMask&) = delete;

 private:
  std::optional<CpuSet> before_;
};

// What the caller has set for itself is its children's too. The OS thread does not have it, since it could not take it
// back. 0: the caller is the child.
void give_own_settings(pid_t child, bool with_class = true) noexcept {
  const core::OwnSettings* own = core::current_context()->own;
  if (own == nullptr) return;
  const base::KeepErrno keep;
  if (own->has_nice) setpriority(PRIO_PROCESS, static_cast<id_t>(child), own->nice);
  sched_param parameters{};
  parameters.sched_priority = own->priority;
  if (own->has_scheduling && with_class) sched_setscheduler(child, own->policy, &parameters);
  if (own->has_slack && child == 0) prctl(PR_SET_TIMERSLACK, own->slack_ns, 0, 0, 0);
}

using Spawn = int(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const*,
                  char* const*);
Spawn* g_posix_spawn;
Spawn* g_posix_spawnp;
int (*g_system)(const char*);
FILE* (*g_popen)(const char*, const char*);

int spawn_by(Spawn* theirs, pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
             const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) noexcept {
  const UsersMask mask;
  pid_t child = 0;
  const int error = theirs(&child, file, actions, attributes, arguments, environment);
  if (error != 0) return error;
  if (pid != nullptr) *pid = child;
  short flags = 0;
  if (attributes != nullptr) posix_spawnattr_getflags(attributes, &flags);
  give_own_settings(child, (flags & (POSIX_SPAWN_SETSCHEDULER | POSIX_SPAWN_SETSCHEDPARAM)) == 0);
  return 0;
}

int our_posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                    const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
  return spawn_by(g_posix_spawn, pid, path, actions, attributes, arguments, environment);
}

int our_posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
                     const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
  return spawn_by(g_posix_spawnp, pid, file, actions, attributes, arguments, environment);
}

// Another mask than the user's only while the command is started would need libc's own parts. The caller waits anyway.
int our_system(const char* command) {
  const UsersMask mask;
  return g_system(command);
}

FILE* our_popen(const char* command, const char* mode) {
  const UsersMask mask;
  return g_popen(command, mode);
}

// ---- vfork, which returns twice on one stack ----

// The child runs on its parent's stack, and under its identity, until it becomes another program. So what the parent
// needs when it goes on does not lie on the stack.
struct VforkCall {
  void* returns_to = nullptr;  // first: the code below writes and reads it
  UsersMask* mask = nullptr;  // a pointer, since libraries that are opened late find little room for thread-local data
};
thread_local VforkCall t_vfork;

}  // namespace

}  // namespace weft::openmp

extern "C" {

// What the code below calls.
[[gnu::visibility("hidden")]] void* weft_vfork_theirs = nullptr;
[[gnu::visibility("hidden")]] void weft_vfork_ours();

[[gnu::used]] weft::openmp::VforkCall* weft_vfork_begin() noexcept {
  using namespace weft::openmp;
  if (mask_for_child() != nullptr) t_vfork.mask = new (std::nothrow) UsersMask;
  return &t_vfork;
}

// Called by the child.
[[gnu::used]] weft::openmp::VforkCall* weft_vfork_child() noexcept {
  weft::openmp::give_own_settings(0);
  return &weft::openmp::t_vfork;
}

// Called by the parent, when the child has become another program or has ended.
[[gnu::used]] weft::openmp::VforkCall* weft_vfork_end() noexcept {
  using namespace weft::openmp;
  delete t_vfork.mask;
  t_vfork.mask = nullptr;
  return &t_vfork;
}

}  // extern "C"

#if defined(__x86_64__)
asm(R"(
  .text
  .hidden weft_vfork_ours
  .type weft_vfork_ours, @function
weft_vfork_ours:
  subq $8, %rsp
  call weft_vfork_begin
  addq $8, %rsp
  popq %rcx
  movq %rcx, (%rax)
  call *weft_vfork_theirs(%rip)
  pushq %rax
  subq $8, %rsp
  testl %eax, %eax
  jz 1f
  call weft_vfork_end
  jmp 2f
1:
  call weft_vfork_child
2:
  movq (%rax), %rdx
  addq $8, %rsp
  popq %rax
  pushq %rdx
  ret
  .size weft_vfork_ours, .-weft_vfork_ours
)");
#elif defined(__aarch64__)
asm(R"(
  .text
  .hidden weft_vfork_ours
  .type weft_vfork_ours, @function
weft_vfork_ours:
  stp x29, x30, [sp, #-16]!
  bl weft_vfork_begin
  ldp x29, x30, [sp], #16
  str x30, [x0]
  adrp x16, weft_vfork_theirs
  ldr x16, [x16, #:lo12:weft_vfork_theirs]
  blr x16
  str x0, [sp, #-16]!
  cbz x0, 1f
  bl weft_vfork_end
  b 2f
1:
  bl weft_vfork_child
2:
  ldr x30, [x0]
  ldr x0, [sp], #16
  ret
  .size weft_vfork_ours, .-weft_vfork_ours
)");
#endif

namespace weft::openmp {

platform::LibcCalls child_calls() noexcept {
  using platform::to_ours;
  static const platform::LibcCall calls[] = {
      to_ours("posix_spawn", our_posix_spawn, &g_posix_spawn),
      to_ours("posix_spawnp", our_posix_spawnp, &g_posix_spawnp),
      to_ours("system", our_system, &g_system),
      to_ours("popen", our_popen, &g_popen),
      {.name = "vfork",
       .ours = reinterpret_cast<const void*>(&weft_vfork_ours),
       .theirs = &weft_vfork_theirs,
       .choose = [] { return reinterpret_cast<void*>(&weft_vfork_ours); }},
  };
  return calls;
}

void watch_forks() noexcept {
  pthread_atfork(nullptr, nullptr, [] {
    if (const CpuSet* wanted = mask_for_child()) platform::bind_thread(*wanted);
    give_own_settings(0);
  });
}

}  // namespace weft::openmp
