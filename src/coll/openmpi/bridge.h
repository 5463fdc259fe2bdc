// SPDX-License-Identifier: Apache-2.0
// The functions of weft that the component calls: Open MPI's headers can be used in C only.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// As weft::coll::Operation.
enum weft_operation {
  kWeftBarrier,
  kWeftBcast,
  kWeftReduce,
  kWeftAllreduce,
  kWeftAllgather,
  kWeftAlltoall,
  kWeftOperations
};

// As weft::coll::Bootstrap.
struct weft_bootstrap {
  int rank;
  int size;
  bool (*allgather)(void* context, const void* mine, void* all, size_t bytes);
  void* context;
};

// As weft::coll::Reduction.
struct weft_reduction {
  void (*combine)(void* context, const void* in, void* inout, size_t count);
  void* context;
  size_t element;
};

// As weft::coll::FrontSettings.
struct weft_settings {
  int job_ranks;
  size_t queue_bytes;
  size_t fragment_bytes;
  bool single_copy;
  int after;
  const char* rules;
  bool compare;
  bool operations[kWeftOperations];
};

// Reads the settings from the environment.
void weft_coll_defaults(struct weft_settings* settings);
// The functions that weft calls.
struct weft_callbacks {
  void (*progress)(void);
  void (*died)(int rank);
  // MPI's name of the communicator of a bootstrap's context.
  void (*name)(void* context, char* text, size_t size);
};

// Sets the settings for all functions below; the text `rules` must stay.
void weft_coll_settle(const struct weft_settings* settings, const struct weft_callbacks* callbacks);
// Says who took the calls of this process, if there is to be a report.
void weft_coll_say_totals(void);
void weft_coll_say_died(int rank);
// Says that the component was built with an Open MPI whose data are laid out in another way.
void weft_coll_say_unfit(int major, int minor, const char* found);

// Whether the library before MPI (coll/profiling) is in the process.
bool weft_coll_has_library(void);

// Says that a rank of the job lacks the component, or has another version of it.
void weft_coll_say_missing(int rank, bool other);

// Makes the front of a communicator; null: there is no memory.
void* weft_coll_front(void);
void weft_coll_forget(void* front);
// As weft::coll::Comparison::Timing.
struct weft_timing {
  float* time;
  int64_t begin;
};

// The group, if the call is weft's (weft::coll::Front::take).
void* weft_coll_take(void* front, enum weft_operation operation, size_t bytes, const struct weft_bootstrap* bootstrap,
                     struct weft_timing* timing);
// Counts a call that weft cannot take.
void weft_coll_leave(void* front, enum weft_operation operation);
// To be called after the call.
void weft_coll_end(const struct weft_timing* timing);

void weft_coll_barrier(void* group);
void weft_coll_bcast(void* group, void* data, size_t bytes, int root);
void weft_coll_reduce(void* group, const void* in, void* out, size_t count, const struct weft_reduction* reduction,
                      int root);
void weft_coll_allreduce(void* group, const void* in, void* out, size_t count, const struct weft_reduction* reduction);
void weft_coll_allgather(void* group, const void* mine, void* all, size_t bytes);
void weft_coll_alltoall(void* group, const void* send, void* recv, size_t bytes);

#ifdef __cplusplus
}
#endif
