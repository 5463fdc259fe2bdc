// SPDX-License-Identifier: Apache-2.0
// The kmp_ routines of LLVM's and Intel's runtimes with which a thread binds itself to a mask of CPUs. A mask is a
// pointer to memory that is ours.
#include <new>

#include "base/message.h"
#include "openmp/abi/abi.h"
#include "openmp/affinity/affinity.h"
#include "openmp/team/caller_binding.h"
#include "platform/cpu_set.h"

using namespace weft;
using namespace weft::openmp;
using platform::CpuSet;

namespace {

using Mask = void*;

constexpr int kNoSuchProc = -1;
constexpr int kProcNotAllowed = -2;

CpuSet* set_of(Mask* mask, const char* routine) noexcept {
  auto* set = mask != nullptr ? static_cast<CpuSet*>(*mask) : nullptr;
  if (set == nullptr) base::warn("%s: there is no mask; make one with kmp_create_affinity_mask first", routine);
  return set;
}

// CPUs beyond any that this process may use do not exist for it.
int max_proc() noexcept {
  int last = -1;
  for (const int cpu : each(affinity().process)) last = cpu;
  return last + 1;
}

int check(int proc) noexcept {
  if (proc < 0 || proc >= max_proc()) return kNoSuchProc;
  return affinity().process.has(proc) ? 0 : kProcNotAllowed;
}

void create_mask(Mask* mask) noexcept {
  *mask = new (std::nothrow) CpuSet;
  if (*mask == nullptr) base::warn("kmp_create_affinity_mask: no memory for a mask");
}

void destroy_mask(Mask* mask) noexcept {
  delete set_of(mask, "kmp_destroy_affinity_mask");
  if (mask != nullptr) *mask = nullptr;
}

int set_affinity(Mask* mask) noexcept {
  const CpuSet* wanted = set_of(mask, "kmp_set_affinity");
  return wanted != nullptr && bind_caller(*wanted) ? 0 : -1;
}

int get_affinity(Mask* mask) noexcept {
  CpuSet* set = set_of(mask, "kmp_get_affinity");
  if (set == nullptr) return -1;
  *set = platform::thread_cpus();
  return 0;
}

int set_proc(int proc, Mask* mask) noexcept {
  CpuSet* set = set_of(mask, "kmp_set_affinity_mask_proc");
  const int wrong = set == nullptr ? -1 : check(proc);
  if (wrong == 0) set->add(proc);
  return wrong;
}

int unset_proc(int proc, Mask* mask) noexcept {
  CpuSet* set = set_of(mask, "kmp_unset_affinity_mask_proc");
  const int wrong = set == nullptr ? -1 : check(proc);
  if (wrong == 0) set->remove(proc);
  return wrong;
}

int get_proc(int proc, Mask* mask) noexcept {
  const CpuSet* set = set_of(mask, "kmp_get_affinity_mask_proc");
  if (set == nullptr || check(proc) == kNoSuchProc) return -1;
  return set->has(proc) ? 1 : 0;
}

}  // namespace

WEFT_ABI(void, kmp_create_affinity_mask)(Mask* mask) { create_mask(mask); }
WEFT_ABI(void, kmp_create_affinity_mask_)(Mask* mask) { create_mask(mask); }

WEFT_ABI(void, kmp_destroy_affinity_mask)(Mask* mask) { destroy_mask(mask); }
WEFT_ABI(void, kmp_destroy_affinity_mask_)(Mask* mask) { destroy_mask(mask); }

WEFT_ABI(int, kmp_set_affinity)(Mask* mask) { return set_affinity(mask); }
WEFT_ABI(int, kmp_set_affinity_)(Mask* mask) { return set_affinity(mask); }

WEFT_ABI(int, kmp_get_affinity)(Mask* mask) { return get_affinity(mask); }
WEFT_ABI(int, kmp_get_affinity_)(Mask* mask) { return get_affinity(mask); }

WEFT_ABI(int, kmp_get_affinity_max_proc)() { return max_proc(); }
WEFT_ABI(int, kmp_get_affinity_max_proc_)() { return max_proc(); }

// C under two names, Fortran by reference.
#define WEFT_KMP_PROC(verb, action)                                                                    \
  WEFT_ABI(int, kmp_##verb##_affinity_mask_proc)(int proc, Mask* mask) { return action(proc, mask); }  \
  WEFT_ABI(int, kmpc_##verb##_affinity_mask_proc)(int proc, Mask* mask) { return action(proc, mask); } \
  WEFT_ABI(int, kmp_##verb##_affinity_mask_proc_)(const int* proc, Mask* mask) { return action(*proc, mask); }

WEFT_KMP_PROC(set, set_proc);
WEFT_KMP_PROC(unset, unset_proc);
WEFT_KMP_PROC(get, get_proc);

WEFT_ABI(int, kmp_set_thread_affinity_mask_initial)() {
  unbind_caller();
  return 0;
}
