// SPDX-License-Identifier: Apache-2.0
#include "calls.h"

#include <llvm/ADT/StringSet.h>
#include <llvm/IR/Function.h>

namespace weft::pass {
namespace {

using llvm::StringRef;

// Names are allowed one by one: what a later compiler adds is unsupported until it has been looked at.
const llvm::StringSet<>& member_calls() {
  static const llvm::StringSet<> names = {"__kmpc_critical",
                                          "__kmpc_critical_with_hint",
                                          "__kmpc_end_critical",
                                          "__kmpc_flush",
                                          "__kmpc_push_num_threads",
                                          "__kmpc_push_proc_bind",
                                          "__kmpc_serialized_parallel",
                                          "__kmpc_end_serialized_parallel",
                                          "__kmpc_omp_task",
                                          "__kmpc_omp_task_alloc",
                                          "__kmpc_omp_task_begin_if0",
                                          "__kmpc_omp_task_complete_if0",
                                          "__kmpc_omp_task_with_deps",
                                          "__kmpc_omp_wait_deps",
                                          "__kmpc_omp_taskwait",
                                          "__kmpc_omp_taskwait_deps_51",
                                          "__kmpc_omp_taskyield",
                                          "__kmpc_taskgroup",
                                          "__kmpc_end_taskgroup",
                                          "__kmpc_taskloop",
                                          "__kmpc_taskloop_5",
                                          "__kmpc_threadprivate_cached"};
  return names;
}

const llvm::StringSet<>& query_calls() {
  static const llvm::StringSet<> names = {
      "__kmpc_global_thread_num", "__kmpc_bound_thread_num", "__kmpc_global_num_threads", "__kmpc_in_parallel",
      "omp_get_thread_num",       "omp_get_num_threads",     "omp_get_max_threads",       "omp_get_level",
      "omp_get_active_level",     "omp_in_parallel",         "omp_get_num_procs",         "omp_get_team_num",
      "omp_get_num_teams",        "omp_get_wtime",           "omp_get_thread_num_",       "omp_get_num_threads_",
      "omp_get_max_threads_",     "omp_in_parallel_"};
  return names;
}

Call classify_kmpc(StringRef name) {
  if (name == "__kmpc_fork_call" || name == "__kmpc_fork_call_if") return Call::fork;
  if (name.starts_with("__kmpc_for_static_init_")) return Call::static_init;
  if (name == "__kmpc_for_static_fini") return Call::static_fini;
  if (name.starts_with("__kmpc_dispatch_init_")) return Call::dispatch_init;
  if (name.starts_with("__kmpc_dispatch_next_")) return Call::dispatch_next;
  if (name == "__kmpc_dispatch_deinit") return Call::dispatch_deinit;
  if (name.starts_with("__kmpc_dist_")) return Call::distribute;
  if (name == "__kmpc_barrier") return Call::barrier;
  if (name == "__kmpc_reduce" || name == "__kmpc_reduce_nowait") return Call::reduce;
  if (name == "__kmpc_end_reduce" || name == "__kmpc_end_reduce_nowait") return Call::end_reduce;
  if (query_calls().contains(name)) return Call::query;
  if (member_calls().contains(name) || name.starts_with("__kmpc_atomic_")) return Call::member;
  return Call::unsupported;
}

}  // namespace

StringRef callee_name(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  if (call == nullptr) return {};
  const auto* callee = llvm::dyn_cast<llvm::Function>(call->getCalledOperand()->stripPointerCasts());
  return callee == nullptr ? StringRef() : callee->getName();
}

Call classify(const llvm::Instruction& instruction) {
  const StringRef name = callee_name(instruction);
  if (name.starts_with("__kmpc_")) return classify_kmpc(name);
  if (name.starts_with("__tgt_") || name.starts_with("GOMP_")) return Call::unsupported;
  if (query_calls().contains(name)) return Call::query;
  return Call::none;
}

unsigned first_capture(const llvm::CallBase& fork) { return callee_name(fork) == "__kmpc_fork_call_if" ? 4 : 3; }

}  // namespace weft::pass
