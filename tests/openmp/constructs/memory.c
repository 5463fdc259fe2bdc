// SPDX-License-Identifier: Apache-2.0
// The memory routines: predefined allocators, alignment, pools, fallbacks, realloc, the default allocator of a task.
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "../support/check.h"
#include "../support/everywhere.h"

static int aligned(const void *memory, uintptr_t alignment) { return (uintptr_t)memory % alignment == 0; }

static void plain(int threads)
{
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < 50; i++) {
    char *memory = omp_alloc(1000, i % 2 ? omp_default_mem_alloc : omp_null_allocator);
    CHECK(memory);
    CHECK(aligned(memory, 16));
    memset(memory, 1, 1000);
    omp_free(memory, omp_null_allocator);
    memory = omp_aligned_alloc(4096, 100, omp_large_cap_mem_alloc);
    CHECK(aligned(memory, 4096));
    omp_free(memory, omp_large_cap_mem_alloc);
    int *zeros = omp_calloc(100, sizeof(int), omp_default_mem_alloc);
    for (int k = 0; k < 100; k++) CHECK_EQ(zeros[k], 0);
    zeros[99] = 7;
    zeros = omp_realloc(zeros, 1000 * sizeof(int), omp_null_allocator, omp_null_allocator);
    CHECK_EQ(zeros[99], 7);
    omp_free(zeros, omp_null_allocator);
    zeros = omp_aligned_calloc(256, 10, 8, omp_default_mem_alloc);
    CHECK(aligned(zeros, 256));
    CHECK_EQ(zeros[19], 0);
    omp_free(zeros, omp_default_mem_alloc);
  }
  CHECK(!omp_alloc(0, omp_default_mem_alloc));
  volatile size_t huge = SIZE_MAX / 2;  // the compiler need not see it
  CHECK(!omp_calloc(huge, 4, omp_default_mem_alloc));
  omp_free(NULL, omp_default_mem_alloc);
  CHECK(!omp_realloc(omp_alloc(10, omp_null_allocator), 0, omp_null_allocator, omp_null_allocator));
}

static void traits(int threads)
{
  omp_alloctrait_t pool[] = {
      {omp_atk_alignment, 64}, {omp_atk_pool_size, 4096}, {omp_atk_fallback, omp_atv_null_fb}};
  omp_allocator_handle_t small = omp_init_allocator(omp_default_mem_space, 3, pool);
  CHECK(small != omp_null_allocator);
  omp_alloctrait_t chained[] = {{omp_atk_pool_size, 100}, {omp_atk_fallback, omp_atv_allocator_fb}, {omp_atk_fb_data, 0}};
  chained[2].value = (uintptr_t)small;
  omp_allocator_handle_t smaller = omp_init_allocator(omp_default_mem_space, 3, chained);
  (void)threads;
  void *memory = omp_alloc(1000, small);
  CHECK(memory);
  CHECK(aligned(memory, 64));
  CHECK(!omp_alloc(4000, small));
  void *other = omp_alloc(1000, smaller);
  CHECK(other);
  CHECK(aligned(other, 64));
  CHECK(!omp_alloc(4000, smaller));
  omp_free(memory, small);
  omp_free(other, smaller);
  memory = omp_alloc(3000, small);
  CHECK(memory);
  // What it replaces makes room for it in the pool.
  memory = omp_realloc(memory, 3100, small, small);
  CHECK(memory);
  CHECK(!omp_realloc(memory, 5000, small, small));
  omp_free(memory, small);
  omp_destroy_allocator(smaller);
  omp_destroy_allocator(small);

  omp_alloctrait_t wrong[] = {{omp_atk_alignment, 3}};
  CHECK(omp_init_allocator(omp_default_mem_space, 1, wrong) == omp_null_allocator);
  omp_alloctrait_t unknown[] = {{(omp_alloctrait_key_t)99, 3}};
  CHECK(omp_init_allocator(omp_default_mem_space, 1, unknown) == omp_null_allocator);
}

static void default_allocator(int threads)
{
  omp_allocator_handle_t before = omp_get_default_allocator();
  omp_set_default_allocator(omp_large_cap_mem_alloc);
#pragma omp parallel num_threads(threads)
  {
    CHECK(omp_get_default_allocator() == omp_large_cap_mem_alloc);
#pragma omp barrier
    omp_set_default_allocator(omp_const_mem_alloc);
    CHECK(omp_get_default_allocator() == omp_const_mem_alloc);
  }
  CHECK(omp_get_default_allocator() == omp_large_cap_mem_alloc);
  omp_set_default_allocator(before);
}

static void clause(int threads)
{
  int sum = 0, x = 3;
#pragma omp parallel num_threads(threads) firstprivate(x) allocate(omp_default_mem_alloc : x) reduction(+ : sum)
  sum += x;
  CHECK(sum % 3 == 0 && sum > 0);
}

// Other runtimes need not pin.
__attribute__((weak)) int weft_adopt_libraries(void);

static long locked_kilobytes(void)
{
  char line[200];
  long locked = -1;
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status))
    if (sscanf(line, "VmLck: %ld", &locked) == 1) break;
  if (status) fclose(status);
  return locked;
}

// Sanitizers let mlock() do nothing.
static int can_pin(void)
{
  static char page[1 << 13];
  const long before = locked_kilobytes();
  const int can = mlock(page, sizeof page) == 0 && locked_kilobytes() > before;
  munlock(page, sizeof page);
  return can;
}

// What one object gives back, the other keeps.
static void pinned(void)
{
  struct rlimit most;
  if (!weft_adopt_libraries || getrlimit(RLIMIT_MEMLOCK, &most) || most.rlim_cur < 1 << 16 || !can_pin()) return;
  omp_alloctrait_t traits[] = {{omp_atk_pinned, omp_atv_true}, {omp_atk_fallback, omp_atv_null_fb}, {omp_atk_pool_size, 1000}};
  omp_allocator_handle_t allocator = omp_init_allocator(omp_default_mem_space, 3, traits);
  CHECK(allocator != omp_null_allocator);
  const long before = locked_kilobytes();
  char *objects[3];
  for (int i = 0; i < 3; i++) {
    objects[i] = omp_calloc(1, 100, allocator);
    CHECK(objects[i] && objects[i][99] == 0);
  }
  CHECK(locked_kilobytes() > before);
  omp_free(objects[1], allocator);
  omp_free(objects[0], allocator);
  CHECK(locked_kilobytes() > before);
  char *longer = omp_realloc(objects[2], 200, allocator, allocator);
  CHECK(longer && longer[99] == 0);
  CHECK(locked_kilobytes() > before);
  omp_free(longer, allocator);
  CHECK_EQ(locked_kilobytes(), before);
  volatile size_t huge = SIZE_MAX - 5000;
  CHECK(!omp_alloc(huge, allocator));
  omp_destroy_allocator(allocator);
}

// Of OpenMP 6.0, which these compilers do not declare. Weak: their own runtimes have none of them.
#define WEAK __attribute__((weak))
WEAK uintptr_t omp_get_device_memspace(int device, uintptr_t space);
WEAK uintptr_t omp_get_devices_memspace(int count, const int *devices, uintptr_t space);
WEAK uintptr_t omp_get_device_and_host_memspace(int device, uintptr_t space);
WEAK uintptr_t omp_get_devices_and_host_memspace(int count, const int *devices, uintptr_t space);
WEAK uintptr_t omp_get_devices_all_memspace(uintptr_t space);
WEAK uintptr_t omp_get_device_allocator(int device, uintptr_t space);
WEAK uintptr_t omp_get_devices_allocator(int count, const int *devices, uintptr_t space);
WEAK uintptr_t omp_get_device_and_host_allocator(int device, uintptr_t space);
WEAK uintptr_t omp_get_devices_and_host_allocator(int count, const int *devices, uintptr_t space);
WEAK uintptr_t omp_get_devices_all_allocator(uintptr_t space);
WEAK int omp_get_memspace_num_resources(uintptr_t space);
WEAK uintptr_t omp_get_submemspace(uintptr_t space, int count, const int *resources);
WEAK uintptr_t omp_get_device_memspace_(const int *device, const uintptr_t *space);
WEAK int omp_get_memspace_num_resources_(const uintptr_t *space);
WEAK uintptr_t omp_get_submemspace_(const uintptr_t *space, const int *count, const int *resources);

static void by_device(void)
{
  if (!omp_get_device_memspace) return;
  const int host = omp_get_initial_device(), hosts[] = {host, -1}, others[] = {host, host + 1}, zeros[] = {0, 0};
  // The default space of libomp from release 20 on, two others, and none.
  const uintptr_t spaces[] = {99, 1, 4, 5};
  for (int i = 0; i < 4; i++) {
    const uintptr_t space = spaces[i], same = i < 3 ? space : 0;
    CHECK_EQ(omp_get_device_memspace(host, space), same);
    CHECK_EQ(omp_get_devices_memspace(2, hosts, space), same);
    CHECK_EQ(omp_get_device_and_host_memspace(host, space), same);
    CHECK_EQ(omp_get_devices_and_host_memspace(2, hosts, space), same);
    CHECK_EQ(omp_get_devices_all_memspace(space), same);
    CHECK_EQ(omp_get_device_memspace(host + 1, space), 0);
    CHECK_EQ(omp_get_devices_memspace(2, others, space), 0);
    CHECK_EQ(omp_get_memspace_num_resources(space), i < 3);
    CHECK_EQ(omp_get_submemspace(space, 2, zeros), same);
    CHECK_EQ(omp_get_submemspace(space, 0, zeros), 0);
    CHECK_EQ(omp_get_submemspace(space, 1, &others[1]), 0);
    CHECK_EQ(omp_get_device_memspace_(&host, &space), same);
    CHECK_EQ(omp_get_memspace_num_resources_(&space), i < 3);
    const int none = 0;
    CHECK_EQ(omp_get_submemspace_(&space, &none, zeros), 0);
    const uintptr_t allocator = omp_get_device_allocator(host, space);
    CHECK_EQ(omp_get_device_allocator(host + 1, space), 0);
    CHECK_EQ(omp_get_devices_allocator(2, hosts, space), allocator);
    CHECK_EQ(omp_get_device_and_host_allocator(host, space), allocator);
    CHECK_EQ(omp_get_devices_and_host_allocator(2, hosts, space), allocator);
    CHECK_EQ(omp_get_devices_all_allocator(space), allocator);
    CHECK_EQ(allocator, i == 0 ? omp_default_mem_alloc : i == 1 ? omp_large_cap_mem_alloc : i == 2 ? omp_low_lat_mem_alloc : 0);
    if (i == 3) continue;
    void *memory = omp_alloc(100, (omp_allocator_handle_t)allocator);
    CHECK(memory);
    omp_free(memory, (omp_allocator_handle_t)allocator);
    const omp_allocator_handle_t own = omp_init_allocator((omp_memspace_handle_t)space, 0, NULL);
    CHECK(own != omp_null_allocator);
    omp_destroy_allocator(own);
  }
}

int main(void)
{
  by_device();
  pinned();
  everywhere(plain, traits, default_allocator, clause);
  return check_result();
}
