// SPDX-License-Identifier: Apache-2.0
#include "coll/openmpi/bridge.h"

#include <cstring>
#include <new>

#include <link.h>

#include "base/message.h"
#include "coll/coll.h"
#include "coll/front/front.h"

namespace {

namespace coll = weft::coll;

static_assert(kWeftOperations == coll::kOperations);
static_assert(kWeftBcast == static_cast<int>(coll::Operation::bcast));
static_assert(kWeftReduce == static_cast<int>(coll::Operation::reduce));
static_assert(kWeftAllreduce == static_cast<int>(coll::Operation::allreduce));
static_assert(kWeftAllgather == static_cast<int>(coll::Operation::allgather));
static_assert(kWeftAlltoall == static_cast<int>(coll::Operation::alltoall));

coll::FrontSettings g_settings;

coll::Group& group_of(void* group) noexcept { return *static_cast<coll::Group*>(group); }

coll::Reduction of(const weft_reduction& reduction) noexcept {
  return {reduction.combine, reduction.context, reduction.element};
}

}  // namespace

void weft_coll_defaults(weft_settings* settings) {
  g_settings = coll::settings_of_environment();
  settings->queue_bytes = g_settings.group.queue_bytes;
  settings->fragment_bytes = g_settings.group.fragment_bytes;
  settings->single_copy = g_settings.group.single_copy;
  settings->after = g_settings.after;
  settings->rules = g_settings.rules;
  settings->compare = g_settings.compare;
  for (bool& operation : settings->operations) operation = true;
}

void weft_coll_settle(const weft_settings* settings, const weft_callbacks* callbacks) {
  g_settings.group = {.queue_bytes = settings->queue_bytes,
                      .fragment_bytes = settings->fragment_bytes,
                      .single_copy = settings->single_copy,
                      .job_ranks = settings->job_ranks,
                      .progress = callbacks->progress,
                      .died = callbacks->died};
  g_settings.name = callbacks->name;
  g_settings.after = settings->after;
  g_settings.rules = settings->rules;
  g_settings.compare = settings->compare;
  g_settings.operations = 0;
  for (int i = 0; i < kWeftOperations; ++i) g_settings.operations |= settings->operations[i] ? 1U << i : 0;
}

void weft_coll_say_totals() {
  if (g_settings.report) coll::totals().say();
}

void weft_coll_say_died(int rank) { coll::say_died(rank); }

void weft_coll_say_unfit(int major, int minor, const char* found) {
  weft::base::warn(
      "coll: the component was built with Open MPI %d.%d, and this is %s; MPI runs without it. Build weft again", major,
      minor, found);
}

bool weft_coll_has_library() {
  return dl_iterate_phdr(
             [](dl_phdr_info* info, size_t, void*) {
               const char* slash = std::strrchr(info->dlpi_name, '/');
               return slash != nullptr && std::strcmp(slash, "/libweft-coll.so") == 0 ? 1 : 0;
             },
             nullptr) != 0;
}

void weft_coll_say_missing(int rank, bool other) {
  weft::base::warn(
      "coll: rank %d %s; communicators with it have MPI's own collectives. Run all ranks with weft run --collectives, "
      "or "
      "none",
      rank, other ? "has the collectives of another version of weft" : "runs without weft's collectives");
}

void* weft_coll_front() { return new (std::nothrow) coll::Front(g_settings); }

void weft_coll_forget(void* front) { delete static_cast<coll::Front*>(front); }

void* weft_coll_take(void* front, weft_operation operation, size_t bytes, const weft_bootstrap* bootstrap,
                     weft_timing* timing) {
  const coll::Bootstrap as_core{bootstrap->rank, bootstrap->size, bootstrap->allgather, bootstrap->context};
  coll::Comparison::Timing measured;
  void* group =
      static_cast<coll::Front*>(front)->take(static_cast<coll::Operation>(operation), bytes, as_core, measured);
  *timing = {measured.time, measured.begin};
  return group;
}

void weft_coll_leave(void* front, weft_operation operation) {
  static_cast<coll::Front*>(front)->leave(static_cast<coll::Operation>(operation));
}

void weft_coll_end(const weft_timing* timing) { coll::Comparison::end({timing->time, timing->begin}); }

void weft_coll_barrier(void* group) { coll::barrier(group_of(group)); }

void weft_coll_bcast(void* group, void* data, size_t bytes, int root) {
  coll::bcast(group_of(group), data, bytes, root);
}

void weft_coll_reduce(void* group, const void* in, void* out, size_t count, const weft_reduction* reduction, int root) {
  coll::reduce(group_of(group), in, out, count, of(*reduction), root);
}

void weft_coll_allreduce(void* group, const void* in, void* out, size_t count, const weft_reduction* reduction) {
  coll::allreduce(group_of(group), in, out, count, of(*reduction));
}

void weft_coll_allgather(void* group, const void* mine, void* all, size_t bytes) {
  coll::allgather(group_of(group), mine, all, bytes);
}

void weft_coll_alltoall(void* group, const void* send, void* recv, size_t bytes) {
  coll::alltoall(group_of(group), send, recv, bytes);
}
