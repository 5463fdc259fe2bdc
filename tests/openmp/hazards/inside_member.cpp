// SPDX-License-Identifier: Apache-2.0
// What code inside a member may do with stacks and threads: setjmp, coroutines by makecontext that meet barriers and open
// regions, std::thread and std::async that open regions of their own, and frames as large as the stack allows.
#include "../support/check.h"
#include "../support/everywhere.h"

#include <alloca.h>
#include <csetjmp>
#include <cstdlib>
#include <future>
#include <memory>
#include <thread>
#include <ucontext.h>

namespace {

int region(int threads)
{
  int members = 0;
#pragma omp parallel num_threads(threads) reduction(+ : members)
  {
#pragma omp barrier
    members++;
  }
  return members;
}

[[noreturn]] void jump_back(std::jmp_buf &to, int value) { std::longjmp(to, value); }

void jumps(int threads)
{
#pragma omp parallel num_threads(threads)
  for (int i = 1; i < 5; i++) {
    std::jmp_buf here;
    if (const int got = setjmp(here); got == 0) {
      region(2);
      jump_back(here, i);
    } else {
      CHECK_EQ(got, i);
    }
#pragma omp barrier
  }
}

// A coroutine of one member; it is resumed by that member only.
struct coroutine {
  ucontext_t caller, own;
  int number, steps = 0, team;
  bool ended = false;
  std::unique_ptr<char[]> stack{new char[256 << 10]};

  static void body(unsigned high, unsigned low)
  {
    auto *self = reinterpret_cast<coroutine *>((static_cast<std::uintptr_t>(high) << 32) | low);
    for (int i = 0; i < 3; i++) {
      CHECK_EQ(omp_get_thread_num(), self->number);
      CHECK_EQ(region(2 + i), 2 + i);
#pragma omp barrier
      self->steps++;
      swapcontext(&self->own, &self->caller);
    }
    self->ended = true;
  }

  explicit coroutine() : number(omp_get_thread_num()), team(omp_get_num_threads())
  {
    getcontext(&own);
    own.uc_stack.ss_sp = stack.get();
    own.uc_stack.ss_size = 256 << 10;
    own.uc_link = &caller;
    const auto self = reinterpret_cast<std::uintptr_t>(this);
    makecontext(&own, reinterpret_cast<void (*)()>(body), 2, static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
  }
  void resume() { swapcontext(&caller, &own); }
};

void coroutines(int threads)
{
#pragma omp parallel num_threads(threads)
  {
    coroutine mine;
    for (int i = 1; i <= 3; i++) {
      mine.resume();
      CHECK_EQ(mine.steps, i);
#pragma omp barrier
    }
    mine.resume();
    CHECK(mine.ended);
  }
}

void threads_of_members(int threads)
{
  int total = 0;
#pragma omp parallel num_threads(threads) reduction(+ : total)
  {
    int of_thread = 0;
    std::thread other([&] {
      CHECK_EQ(omp_get_level(), 0);
      of_thread = region(3);
    });
    auto future = std::async(std::launch::async, [] { return region(2); });
    auto lazy = std::async(std::launch::deferred, [] { return omp_get_level(); });
    CHECK_EQ(region(2), 2);
    CHECK_EQ(future.get(), 2);
    CHECK_EQ(lazy.get(), omp_get_level());
    other.join();
    CHECK_EQ(of_thread, 3);
    total++;
  }
  CHECK_IN(total, 1, threads + 1);
}

// Three quarters of the stack in one frame, first touched from its far end. The initial thread's stack is not OpenMP's.
void large_frames(std::size_t stack)
{
  const std::size_t size = stack / 4 * 3;
  int touched = 0;
#pragma omp parallel num_threads(3) reduction(+ : touched)
  {
#pragma omp parallel num_threads(2) reduction(+ : touched)
    if (omp_get_ancestor_thread_num(1) + omp_get_thread_num() > 0) {
      auto *frame = static_cast<volatile char *>(alloca(size));
      for (std::size_t i = 0; i < size; i += 1024) frame[size - 1 - i] = 1;
      region(2);
      for (std::size_t i = 0; i < size; i += 1024) touched += frame[size - 1 - i];
    }
  }
  CHECK_EQ(touched, 5 * static_cast<long long>((size + 1023) / 1024));
}

}  // namespace

int main()
{
  everywhere(jumps, coroutines, threads_of_members);
  omp_set_num_threads(2);
  large_frames(std::getenv("OMP_STACKSIZE") != nullptr ? 16u << 20 : 2u << 20);
  return check_result();
}
