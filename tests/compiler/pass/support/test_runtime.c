// SPDX-License-Identifier: Apache-2.0
// A runtime for tests of the compiler's pass: it hands out ranges in ways that no good runtime would, but any may. What
// it does is said by WEFT_TEST_MEMBERS:
//   sequential  members run one after the other, in pieces of random sizes; some get none, some are left out
//   threads     the same, by the threads of a region of the OpenMP runtime that the program is linked with
//   static      every member gets one block of the iterations, the last one may be empty
//   single      one member gets all in one piece
//   refuse      every second region is left to the program
// WEFT_TEST_SEED begins the random numbers. At its end the process appends "<regions> <pieces> <hints> <refused>" to the
// file WEFT_TEST_COUNTS. Built without the pass.
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft/loop.h"

enum { MEMBERS = 4 };

static atomic_long regions, pieces, hints, refused;
static atomic_uint seed;

struct shared {
  uint64_t count;
  atomic_uint_fast64_t position;
  int is_static;
  int in_turn;
  int whole;
};

struct member {
  struct weft_range range;  // must be the first
  struct shared *shared;
  unsigned random;
  int is_final;  // nobody comes after it
  int has_ended;
  int has_had_block;
};

static unsigned next_random(unsigned *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

static int take(struct member *member, uint64_t begin, uint64_t end) {
  member->range.begin = begin;
  member->range.end = end;
  member->range.last = end == member->shared->count;
  atomic_fetch_add(&pieces, 1);
  return 1;
}

// One block, then nothing.
static int next_static(struct member *member) {
  uint64_t share = (member->shared->count + MEMBERS - 1) / MEMBERS;
  uint64_t begin = share * (uint64_t)member->range.number;
  uint64_t end = begin + share < member->shared->count ? begin + share : member->shared->count;
  if (member->has_had_block || begin >= end) {
    member->has_ended = 1;
    return 0;
  }
  member->has_had_block = 1;
  return take(member, begin, end);
}

static int next(struct weft_range *range) {
  struct member *member = (struct member *)range;
  struct shared *shared = member->shared;
  if (member->has_ended) abort();
  if (shared->is_static) return next_static(member);
  if (shared->in_turn && !member->is_final && next_random(&member->random) % 3 == 0) {
    member->has_ended = 1;
    return 0;
  }
  uint64_t most = shared->count / 5 + 2;
  uint64_t size = shared->whole ? shared->count : 1 + next_random(&member->random) % most;
  uint64_t begin = atomic_fetch_add(&shared->position, size);
  if (begin >= shared->count) {
    member->has_ended = 1;
    return 0;
  }
  return take(member, begin, begin + size < shared->count ? begin + size : shared->count);
}

static void run_member(struct weft_loop *loop, weft_loop_body *body, void **captures, struct shared *shared, int number,
                       int is_final, unsigned random) {
  (void)loop;
  struct member member = {.range = {.next = next, .begin = 77, .end = 7, .last = -1, .number = number}, .shared = shared,
                          .random = random | 1, .is_final = is_final};
  body(&member.range, captures);
}

static const char *mode(void) {
  const char *value = getenv("WEFT_TEST_MEMBERS");
  return value ? value : "sequential";
}

int weft_parallel_for(struct weft_loop *loop, weft_loop_body *body, void **captures, uint64_t count, int64_t chunk) {
  if (loop->version != WEFT_LOOP_VERSION || !(loop->flags & WEFT_LOOP_ALONE) || loop->schedule > WEFT_SCHEDULE_RUNTIME ||
      loop->learned[0] != 0 || chunk < 0)
    abort();
  unsigned random = atomic_fetch_add(&seed, 12345);
  long region = atomic_fetch_add(&regions, 1);
  if ((loop->max_count != 0 && count > loop->max_count) || (strcmp(mode(), "refuse") == 0 && region % 2 == 0)) {
    atomic_fetch_add(&refused, 1);
    return 0;
  }
  if (count == 0) return 1;
  struct shared shared = {.count = count};
  if (strcmp(mode(), "threads") == 0) {
#pragma omp parallel num_threads(MEMBERS)
    run_member(loop, body, captures, &shared, omp_get_thread_num(), 0, random + 77u * (unsigned)omp_get_thread_num());
    return 1;
  }
  if (strcmp(mode(), "single") == 0) {
    shared.whole = 1;
    run_member(loop, body, captures, &shared, 0, 1, random);
    return 1;
  }
  shared.in_turn = 1;
  shared.is_static = strcmp(mode(), "static") == 0;
  for (int i = 0; i < MEMBERS; ++i) {
    int left_out = !shared.is_static && i + 1 < MEMBERS && next_random(&random) % 4 == 0;
    if (!left_out) run_member(loop, body, captures, &shared, i, i + 1 == MEMBERS, next_random(&random));
  }
  return 1;
}

void weft_push_loop(struct weft_loop *loop, uint64_t count, int64_t chunk) {
  if (loop->version != WEFT_LOOP_VERSION || (loop->flags & WEFT_LOOP_ALONE) || chunk < 0) abort();
  (void)count;
  atomic_fetch_add(&hints, 1);
}

__attribute__((constructor)) static void begin(void) {
  const char *value = getenv("WEFT_TEST_SEED");
  atomic_store(&seed, value ? (unsigned)atoi(value) : 1);
}

__attribute__((destructor)) static void end(void) {
  const char *name = getenv("WEFT_TEST_COUNTS");
  FILE *file = name ? fopen(name, "a") : NULL;
  if (!file) return;
  fprintf(file, "%ld %ld %ld %ld\n", atomic_load(&regions), atomic_load(&pieces), atomic_load(&hints), atomic_load(&refused));
  fclose(file);
}
