// SPDX-License-Identifier: Apache-2.0
// Data of tasks in C++: firstprivate objects with copy constructors and destructors, large and over-aligned ones,
// references, lambdas, this.
#include "../support/check.h"
#include "../support/everywhere.h"

#include <cstdint>
#include <string>
#include <vector>

namespace {

class counted {
public:
  static inline long alive = 0, copies = 0;
  explicit counted(int value) : value_(value), self_(this) { add(alive, 1); }
  counted(const counted &other) : value_(other.value_), self_(this)
  {
    add(alive, 1);
    add(copies, 1);
  }
  counted &operator=(const counted &) = delete;
  ~counted() { add(alive, -1); }
  int value() const
  {
    CHECK_PTR(self_, this);  // copied by its constructor, never by bytes
    return value_;
  }

private:
  static void add(long &number, long change) { __atomic_add_fetch(&number, change, __ATOMIC_RELAXED); }
  int value_;
  const counted *self_;
};

struct alignas(64) line {
  double values[8];
};

struct big {
  int words[16384];
};

void constructors(int threads)
{
  long sum = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int i = 0; i < 50; i++) {
    counted object(i);
#pragma omp task firstprivate(object) shared(sum)
    {
#pragma omp atomic
      sum += object.value();
    }
  }
  CHECK_EQ(sum, 49 * 50 / 2);
}

void library_types(int threads)
{
  long length = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int i = 0; i < 30; i++) {
    std::string text(100, static_cast<char>('a' + i % 26));
    std::vector<int> numbers(20, i);
#pragma omp task firstprivate(text, numbers, i) shared(length)
    {
      CHECK_EQ(text[99], 'a' + i % 26);
      CHECK_EQ(numbers[19], i);
      text += "more";
#pragma omp atomic
      length += static_cast<long>(text.size());
    }
  }
  CHECK_EQ(length, 30 * 104);
}

void alignment_and_size(int threads)
{
  int done = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int i = 0; i < 10; i++) {
    line aligned{};
    aligned.values[7] = i;
    char odd[3] = {1, 2, static_cast<char>(i)};
    big large{};
    large.words[0] = i, large.words[16383] = 2 * i;
#pragma omp task firstprivate(aligned, odd, large, i) shared(done)
    {
      CHECK_EQ(reinterpret_cast<std::uintptr_t>(&aligned) % 64, 0);
      CHECK_NEAR(aligned.values[7], i, 0);
      CHECK_EQ(odd[2], i);
      CHECK_EQ(large.words[0] + large.words[16383], 3 * i);
#pragma omp atomic
      done++;
    }
  }
  CHECK_EQ(done, 10);
}

class tree {
public:
  explicit tree(int depth) : depth_(depth) {}
  long leaves() const
  {
    if (depth_ == 0) return 1;
    tree left(depth_ - 1), right(depth_ - 1);
    long a = 0, b = 0;
#pragma omp task shared(a, left)
    a = left.leaves();
#pragma omp task shared(b, right)
    b = right.leaves() + 0 * depth_;
#pragma omp taskwait
    return a + b;
  }

private:
  int depth_;
};

// The copies of tasks that a cancelled taskgroup drops end too.
void cancelled(int threads)
{
#pragma omp parallel num_threads(threads)
#pragma omp single
#pragma omp taskgroup
  {
    counted value(7);
    for (int i = 0; i < 50; i++) {
#pragma omp task firstprivate(value)
      {
        counted copy(value);
#pragma omp cancel taskgroup if (i > 5)
      }
    }
  }
}

void members(int threads)
{
  long leaves = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  leaves = tree(8).leaves();
  CHECK_EQ(leaves, 256);
}

void lambdas(int threads)
{
  int total = 0;
  auto add = [&total](int n) {
#pragma omp atomic
    total += n;
  };
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int i = 0; i < 20; i++) {
    auto &reference = add;
#pragma omp task firstprivate(i) shared(reference)
    reference(i);
  }
  CHECK_EQ(total, 190);
}

}  // namespace

int main()
{
  everywhere(constructors);
  CHECK_EQ(counted::alive, 0);
  CHECK(counted::copies > 0);
  everywhere(cancelled);
  CHECK_EQ(counted::alive, 0);
  everywhere(library_types, alignment_and_size, members, lambdas);
  return check_result();
}
