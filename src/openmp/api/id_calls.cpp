// SPDX-License-Identifier: Apache-2.0
#include "openmp/api/id_calls.h"

#include <sys/types.h>

#include "core/api/thread.h"

namespace weft::openmp {

namespace {

// libc's.
int (*g_setuid)(uid_t);
int (*g_setgid)(gid_t);
int (*g_seteuid)(uid_t);
int (*g_setegid)(gid_t);
int (*g_setreuid)(uid_t, uid_t);
int (*g_setregid)(gid_t, gid_t);
int (*g_setresuid)(uid_t, uid_t, uid_t);
int (*g_setresgid)(gid_t, gid_t, gid_t);
int (*g_setgroups)(size_t, const gid_t*);

template <auto* Function, class... Ids>
int change(Ids... ids) {
  const core::ChangeOfIds change;
  return (*Function)(ids...);
}

int our_setuid(uid_t id) { return change<&g_setuid>(id); }
int our_setgid(gid_t id) { return change<&g_setgid>(id); }
int our_seteuid(uid_t id) { return change<&g_seteuid>(id); }
int our_setegid(gid_t id) { return change<&g_setegid>(id); }
int our_setreuid(uid_t real, uid_t effective) { return change<&g_setreuid>(real, effective); }
int our_setregid(gid_t real, gid_t effective) { return change<&g_setregid>(real, effective); }
int our_setresuid(uid_t real, uid_t effective, uid_t saved) { return change<&g_setresuid>(real, effective, saved); }
int our_setresgid(gid_t real, gid_t effective, gid_t saved) { return change<&g_setresgid>(real, effective, saved); }
int our_setgroups(size_t count, const gid_t* groups) { return change<&g_setgroups>(count, groups); }

}  // namespace

platform::LibcCalls id_calls() noexcept {
#define WEFT_TAKE(name) platform::to_ours(#name, our_##name, &g_##name)
  static const platform::LibcCall calls[] = {
      WEFT_TAKE(setuid),   WEFT_TAKE(setgid),    WEFT_TAKE(seteuid),   WEFT_TAKE(setegid),   WEFT_TAKE(setreuid),
      WEFT_TAKE(setregid), WEFT_TAKE(setresuid), WEFT_TAKE(setresgid), WEFT_TAKE(setgroups),
  };
#undef WEFT_TAKE
  return calls;
}

}  // namespace weft::openmp
