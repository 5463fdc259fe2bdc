// SPDX-License-Identifier: Apache-2.0
// Exceptions inside members with barriers in every place where the exception's state matters: between throw and catch of
// different members, inside catch blocks, before a rethrow, with nested and stored exceptions, and while unwinding.
#include "../support/check.h"
#include "../support/everywhere.h"

#include <exception>
#include <stdexcept>
#include <string>

namespace {

int number(const std::exception &error) { return std::stoi(error.what()); }

void throw_number(int n) { throw std::runtime_error(std::to_string(n)); }

void caught(int threads)
{
#pragma omp parallel num_threads(threads)
  for (int round = 0; round < 5; round++) {
    int me = omp_get_thread_num(), got = -1;
    try {
      throw_number(me);
    } catch (const std::exception &error) {
#pragma omp barrier
      got = number(error);
      CHECK(std::current_exception() != nullptr);
#pragma omp barrier
      CHECK_EQ(number(error), me);
    }
    CHECK_EQ(got, me);
    CHECK(std::current_exception() == nullptr);
  }
}

void rethrown(int threads)
{
#pragma omp parallel num_threads(threads)
  {
    int me = omp_get_thread_num(), got = -1;
    try {
      try {
        throw_number(10 + me);
      } catch (...) {
#pragma omp barrier
        throw;
      }
    } catch (const std::runtime_error &error) {
      got = number(error);
#pragma omp barrier
      CHECK_EQ(number(error), 10 + me);
    }
    CHECK_EQ(got, 10 + me);
  }
}

// Handlers within handlers, entered and left in different orders by different members.
void stacked(int threads)
{
#pragma omp parallel num_threads(threads)
  {
    int me = omp_get_thread_num();
    try {
      throw me;
    } catch (int outer) {
#pragma omp barrier
      try {
        throw me + 0.5;
      } catch (double inner) {
#pragma omp barrier
        CHECK_NEAR(inner, me + 0.5, 0);
        try {
          throw static_cast<long>(me) * 7;
        } catch (long innermost) {
#pragma omp barrier
          CHECK_EQ(innermost, 7 * me);
        }
        CHECK_NEAR(inner, me + 0.5, 0);
      }
#pragma omp barrier
      CHECK_EQ(outer, me);
    }
  }
}

void nested_exceptions(int threads)
{
#pragma omp parallel num_threads(threads)
  {
    int me = omp_get_thread_num();
    try {
      try {
        throw_number(me);
      } catch (...) {
#pragma omp barrier
        std::throw_with_nested(std::logic_error(std::to_string(100 + me)));
      }
    } catch (const std::exception &error) {
      CHECK_EQ(number(error), 100 + me);
#pragma omp barrier
      try {
        std::rethrow_if_nested(error);
        CHECK(!"no nested exception");
      } catch (const std::runtime_error &inner) {
#pragma omp barrier
        CHECK_EQ(number(inner), me);
      }
    }
  }
}

// An exception stored by one member and thrown again by its neighbour.
void handed_over(int threads)
{
  std::exception_ptr stored[most_members];
#pragma omp parallel num_threads(threads)
  {
    int me = omp_get_thread_num(), left = (me + threads - 1) % threads;
    try {
      throw_number(me);
    } catch (...) {
      stored[me] = std::current_exception();
#pragma omp barrier
      int got = -1;
      try {
        std::rethrow_exception(stored[left]);
      } catch (const std::exception &error) {
        got = number(error);
      }
      CHECK_EQ(got, left);
#pragma omp barrier
    }
  }
}

// A destructor that waits while the stack is unwound: uncaught_exceptions() is the member's own.
struct waiter {
  int expected;
  explicit waiter(int n) : expected(n) {}
  ~waiter()
  {
    CHECK_EQ(std::uncaught_exceptions(), expected);
#pragma omp barrier
    CHECK_EQ(std::uncaught_exceptions(), expected);
  }
};

void unwinding(int threads)
{
#pragma omp parallel num_threads(threads)
  {
    int me = omp_get_thread_num();
    bool throws = me % 2 == 1;
    try {
      waiter wait(throws ? 1 : 0);
      if (throws) throw me;
    } catch (int thrown) {
      CHECK_EQ(thrown, me);
    }
    CHECK_EQ(std::uncaught_exceptions(), 0);
  }
}

// Inner regions inside handlers; inner members throw and catch too.
void regions_in_handlers(int threads)
{
#pragma omp parallel num_threads(threads)
  {
    int me = omp_get_thread_num();
    try {
      throw_number(me);
    } catch (const std::exception &error) {
#pragma omp parallel num_threads(3)
      {
        int it = omp_get_thread_num();
        try {
          throw_number(50 + it);
        } catch (const std::exception &inner) {
#pragma omp barrier
          CHECK_EQ(number(inner), 50 + it);
        }
      }
      CHECK_EQ(number(error), me);
    }
  }
}

void in_tasks(int threads)
{
  int caught_in_tasks = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int i = 0; i < 30; i++) {
#pragma omp task firstprivate(i) shared(caught_in_tasks)
    {
      try {
        throw_number(i);
      } catch (const std::exception &error) {
#pragma omp taskyield
        CHECK_EQ(number(error), i);
#pragma omp atomic
        caught_in_tasks++;
      }
    }
  }
  CHECK_EQ(caught_in_tasks, 30);
}

}  // namespace

int main()
{
  everywhere(caught, rethrown, stacked, nested_exceptions, handed_over, unwinding,
             regions_in_handlers, in_tasks);
  return check_result();
}
