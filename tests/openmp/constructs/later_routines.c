// SPDX-License-Identifier: Apache-2.0
// Routines of later OpenMP versions, which the libraries that these compilers link with do not have: found by name.
#define _GNU_SOURCE
#include "../support/check.h"
#include "../support/everywhere.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static void *found(const char *name)
{
  void *function = dlsym(RTLD_DEFAULT, name);
  if (function == NULL) check_failed("later_routines.c", 0, name, "is not there");
  return function;
}
// A function by its name, called as one of this type.
#define CALL(result, name, types) ((result(*) types)found(#name))

// gcc's omp_depend_t, for any compiler.
struct depend {
  const void *location;
  uintptr_t kind;
};
enum { depend_in = 1, depend_out = 2, depend_inout = 3 };

static void memory(void)
{
  char a[64], b[64];
  memset(a, 1, sizeof a);
  CHECK_PTR(CALL(void *, omp_target_memset, (void *, int, size_t, int))(b, 7, sizeof b, 0), b);
  CHECK_EQ(b[63], 7);
  CHECK_PTR(CALL(void *, omp_get_mapped_ptr, (const void *, int))(a, omp_get_initial_device()), a);
  CHECK_PTR(CALL(void *, omp_get_mapped_ptr, (const void *, int))(a, -1), a);
  CHECK_PTR(CALL(void *, omp_get_mapped_ptr, (const void *, int))(a, 5), NULL);
  CHECK_EQ(CALL(int, omp_target_is_accessible, (const void *, size_t, int))(a, sizeof a, 0), 1);
  CHECK_EQ(CALL(int, omp_target_is_accessible, (const void *, size_t, int))(a, sizeof a, 5), 0);
}

static void tasks(int threads)
{
  int (*copy)(void *, const void *, size_t, size_t, size_t, int, int, int, struct depend *) =
      found("omp_target_memcpy_async");
  int (*copy_box)(void *, const void *, size_t, int, const size_t *, const size_t *, const size_t *, const size_t *,
                  const size_t *, int, int, int, struct depend *) = found("omp_target_memcpy_rect_async");
  void *(*fill)(void *, int, size_t, int, int, struct depend *) = found("omp_target_memset_async");
  void (*wait_for)(void **) = found("GOMP_taskwait_depend_nowait");
  if (!copy || !copy_box || !fill || !wait_for) return;
  enum { size = 1000 };
  char a[size], b[size], c[size];
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int round = 0; round < 20; round++) {
    struct depend to_a = {a, depend_inout}, from_a = {a, depend_in}, to_b = {b, depend_out};
    struct depend copies[2] = {from_a, to_b};
    static const size_t volume[2] = {10, 20}, offsets[2] = {3, 4}, none[2] = {0, 0}, sizes[2] = {20, 50};
    memset(a, -1, sizeof a);
    CHECK_PTR(fill(a, round, size, 0, 1, &to_a), a);
    CHECK_EQ(copy(b, a, size / 2, size / 2, 0, 0, 0, 2, copies), 0);
    CHECK_EQ(copy_box(c, a, 1, 2, volume, offsets, none, sizes, sizes, 0, 0, 1, &from_a), 0);
    void *depend[] = {0, (void *)1, (void *)1, 0, 0, b};
    wait_for(depend);
#pragma omp taskwait
    CHECK_EQ(a[size - 1], round);
    CHECK_EQ(b[size - 1], round);
    CHECK_EQ(c[12 * 50 + 23], round);
    CHECK(copy(b, a, 1, 0, 0, 7, 0, 0, NULL) != 0);
  }
}

static void names(void)
{
  const char *(*uid_of)(int) = found("omp_get_uid_from_device");
  int (*device_of)(const char *) = found("omp_get_device_from_uid");
  if (!uid_of || !device_of) return;
  CHECK(uid_of(0) != NULL);
  CHECK_PTR(uid_of(3), NULL);
  CHECK_EQ(device_of(uid_of(0)), -1);
  CHECK_EQ(device_of("none of these"), -4);
  CHECK_EQ(CALL(int, omp_in_explicit_task, (void))(), 0);
#pragma omp parallel num_threads(2)
#pragma omp task
  CHECK_EQ(CALL(int, omp_in_explicit_task, (void))(), 1);
}

// omp_interop_none is all there is.
static void interop(void)
{
  int code = 9;
  CHECK_EQ(CALL(int, omp_get_num_interop_properties, (void *))(NULL), 0);
  CHECK_EQ(CALL(intptr_t, omp_get_interop_int, (void *, int, int *))(NULL, -1, &code), 0);
  CHECK_EQ(code, -1);
  CHECK_PTR(CALL(void *, omp_get_interop_ptr, (void *, int, int *))(NULL, -20, &code), NULL);
  CHECK_EQ(code, -2);
  CHECK_PTR(CALL(const char *, omp_get_interop_str, (void *, int, int *))(NULL, -9, NULL), NULL);
  CHECK(strcmp(CALL(const char *, omp_get_interop_name, (void *, int))(NULL, -9), "targetsync") == 0);
  CHECK_PTR(CALL(const char *, omp_get_interop_name, (void *, int))(NULL, 0), NULL);
  CHECK_PTR(CALL(const char *, omp_get_interop_type_desc, (void *, int))(NULL, -1), NULL);
  CHECK(CALL(const char *, omp_get_interop_rc_desc, (void *, int))(NULL, 0) != NULL);
  CHECK_PTR(CALL(const char *, omp_get_interop_rc_desc, (void *, int))(NULL, 2), NULL);
  void *first = &code, *second = &code;
  void **inits[] = {&first}, **destroyed[] = {&second};
  void (*construct)(int, int, void ***, const void *, const void *, int, void *, int, void ***, unsigned, void **) =
      found("GOMP_interop");
  if (construct) construct(-1, 1, inits, NULL, NULL, 0, NULL, 1, destroyed, 0, NULL);
  CHECK_PTR(first, NULL);
  CHECK_PTR(second, NULL);
}

static void allocatables(int threads)
{
  void (*add)(void *) = found("GOMP_add_alloc");
  bool (*take)(void *) = found("GOMP_is_alloc");
  if (!add || !take) return;
#pragma omp parallel num_threads(threads)
  {
    char places[100];
    for (int i = 0; i < 100; i += 2) add(places + i);
    for (int i = 0; i < 100; i++) CHECK_EQ(take(places + i), i % 2 == 0);
    CHECK(!take(places));
  }
  void *function = found("GOMP_add_alloc");
  CHECK_PTR(CALL(void *, GOMP_target_map_indirect_ptr, (void *))(function), function);
}

int main(void)
{
  memory();
  everywhere(tasks);
  names();
  interop();
  everywhere(allocatables);
  return check_result();
}
