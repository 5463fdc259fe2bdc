// SPDX-License-Identifier: Apache-2.0
// Threadprivate variables without thread-local storage: the compiler calls the runtime at each use.
#include "../support/check.h"
#include "../support/everywhere.h"

#include <atomic>

namespace {

std::atomic<int> g_made{0};
std::atomic<int> g_copied{0};

struct Object {
  int value;
  explicit Object(int from) : value(from) { g_made++; }
  Object(const Object& other) : value(other.value + 1000) { g_copied++; }
  Object& operator=(const Object& other) = default;
  ~Object() { value = -1; }
};

int g_plain = 11;
double g_array[5] = {1, 2, 3, 4, 5};
Object g_object(42);
Object g_objects[3] = {Object(1), Object(2), Object(3)};
struct Pair {
  char c;
  long l;
} g_pair = {'a', 7};
#pragma omp threadprivate(g_plain, g_array, g_object, g_objects, g_pair)

// Every member has copies of its own, which no other touches while it is there.
void own_copies(int threads)
{
  const void* seen[most_members] = {};
#pragma omp parallel num_threads(threads)
  {
    const int me = omp_get_thread_num();
    seen[me] = &g_plain;
    g_plain = me;
    g_array[3] = me;
    g_object.value = me;
    g_objects[2].value = me;
    g_pair.l = me;
#pragma omp barrier
    for (int i = 0; i < omp_get_num_threads(); i++) CHECK(i == me || seen[i] != &g_plain);
    CHECK_EQ(g_plain, me);
    CHECK_EQ(g_array[3], me);
    CHECK_EQ(g_object.value, me);
    CHECK_EQ(g_objects[2].value, me);
    CHECK_EQ(g_pair.l, me);
  }
}

void copies_in(int threads)
{
  g_plain = 1234;
  g_array[1] = 0.5;
  g_object.value = 77;
#pragma omp parallel num_threads(threads) copyin(g_plain, g_array, g_object)
  {
    CHECK_EQ(g_plain, 1234);
    CHECK_NEAR(g_array[1], 0.5, 0);
    CHECK_EQ(g_object.value, 77);
  }
}

// Copies of new threads are what the variables were at first.
void first_values()
{
  g_plain = 5;
  g_array[2] = 6;
  g_pair.c = 'z';
#pragma omp parallel num_threads(4)
  if (omp_get_thread_num() == 0) {
    CHECK_EQ(g_plain, 5);
    CHECK_EQ(g_pair.c, 'z');
  } else {
    CHECK_EQ(g_plain, 11);
    CHECK_NEAR(g_array[2], 3, 0);
    CHECK_EQ(g_pair.c, 'a');
    CHECK_EQ(g_pair.l, 7);
    CHECK_EQ(g_object.value, 42);
    CHECK_EQ(g_objects[1].value, 2);
  }
  // And they last from region to region, in one level.
#pragma omp parallel num_threads(4)
  g_plain = 100 + omp_get_thread_num();
#pragma omp parallel num_threads(4)
  CHECK_EQ(g_plain, 100 + omp_get_thread_num());
}

}  // namespace

int main()
{
  omp_set_dynamic(0);
  if (omp_get_thread_limit() >= 4) first_values();
  everywhere(own_copies, copies_in);
  CHECK_EQ(g_copied, 0);
  return check_result();
}
