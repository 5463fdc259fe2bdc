// SPDX-License-Identifier: Apache-2.0
// thread_local and threadprivate objects in nested teams with barriers inside: all members that exist at the same time, of
// all teams, have copies of their own, which nobody else touches; a primary has the copy of the thread that opened the region.
#include "../support/check.h"

#include <omp.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

// Its constructor runs on first use in a thread, so that a copy that is used unconstructed shows.
struct lazily {
  std::string text = std::string(40, 'c');
  std::vector<int> numbers = std::vector<int>(10, 5);
  int owner = -1;
};

thread_local lazily object;
thread_local int plain = 17;
int shared_copy = 4;
#pragma omp threadprivate(shared_copy)

thread_local const char *zeroed[64];

struct place {
  const void *object, *plain, *threadprivate, *zeroed;
};

place mine() { return {&object, &plain, &shared_copy, &zeroed[0]}; }

void own(int id)
{
  object.owner = id;
  object.text = std::to_string(id);
  object.numbers[3] = id;
  plain = id;
  shared_copy = id;
  zeroed[63] = object.text.c_str();
}

void check_own(int id)
{
  CHECK_EQ(object.owner, id);
  CHECK(object.text == std::to_string(id));
  CHECK_EQ(object.numbers[3], id);
  CHECK_EQ(object.numbers.size(), 10);
  CHECK_EQ(plain, id);
  CHECK_EQ(shared_copy, id);
  CHECK_PTR(zeroed[63], object.text.c_str());
}

void all_differ(std::vector<place> places)
{
  auto check = [&](auto member) {
    std::vector<const void *> copies;
    for (auto &p : places) copies.push_back(p.*member);
    std::sort(copies.begin(), copies.end());
    CHECK(std::adjacent_find(copies.begin(), copies.end()) == copies.end());
  };
  check(&place::object);
  check(&place::plain);
  check(&place::threadprivate);
  check(&place::zeroed);
}

// Outer members wait at a barrier of their own while every inner team is in the middle of its region.
void nested(int outer, int inner, int rounds)
{
  std::vector<place> places(static_cast<std::size_t>(outer * inner));
#pragma omp parallel num_threads(outer)
  {
    int me = omp_get_thread_num();
    own(1000 + me);
    place before = mine();
#pragma omp barrier
    for (int round = 0; round < rounds; round++) {
#pragma omp parallel num_threads(inner)
      {
        int it = omp_get_thread_num(), id = 10000 + 100 * me + it;
        place here = mine();
        if (it == 0) {
          CHECK_PTR(here.object, before.object);
          CHECK_PTR(here.threadprivate, before.threadprivate);
          check_own(1000 + me);
        } else {
          own(id);
        }
        places[static_cast<std::size_t>(me * inner + it)] = here;
#pragma omp barrier
        check_own(it == 0 ? 1000 + me : id);
        CHECK_PTR(mine().object, here.object);
#pragma omp barrier
        check_own(it == 0 ? 1000 + me : id);
      }
      check_own(1000 + me);
    }
#pragma omp barrier
    check_own(1000 + me);
  }
}

// The same with a rendezvous of all members of all teams, so that they surely exist at the same time.
void all_at_once(int outer, int inner)
{
  std::vector<place> places(static_cast<std::size_t>(outer * inner));
  int arrived = 0;
#pragma omp parallel num_threads(outer)
  {
    int me = omp_get_thread_num();
#pragma omp parallel num_threads(inner)
    {
      int it = omp_get_thread_num();
      places[static_cast<std::size_t>(me * inner + it)] = mine();
      own(100 * me + it);
      __atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL);
      while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) < outer * inner) usleep(50);
      check_own(100 * me + it);
    }
  }
  all_differ(places);
}

}  // namespace

int main()
{
  omp_set_max_active_levels(4);
  omp_set_dynamic(0);
  own(5);
  nested(1, 4, 5);
  nested(2, 2, 10);
  nested(3, 5, 5);
  nested(8, 2, 5);
  nested(2, 9, 5);
  all_at_once(1, 6);
  all_at_once(3, 3);
  all_at_once(4, 6);
  return check_result();
}
