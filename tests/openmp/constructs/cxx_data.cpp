// SPDX-License-Identifier: Apache-2.0
// Data clauses with C++ classes: the right constructor, assignment or destructor of every private copy, on parallel, for,
// sections and single; references; threadprivate objects with copyin.
#include "../support/check.h"
#include "../support/everywhere.h"

#include <string>
#include <vector>

namespace {

// Tells how it came to be, and how many exist.
class tracked {
public:
  static inline long alive = 0;
  enum origin { by_default, by_value, by_copy, by_assignment };
  tracked() : self_(this), origin_(by_default) { count(1); }
  explicit tracked(int value) : self_(this), origin_(by_value), value_(value) { count(1); }
  tracked(const tracked &other) : self_(this), origin_(by_copy), value_(other.value_) { count(1); }
  tracked &operator=(const tracked &other)
  {
    value_ = other.value_;
    origin_ = by_assignment;
    return *this;
  }
  ~tracked()
  {
    CHECK_PTR(self_, this);
    count(-1);
  }
  origin how() const { return origin_; }
  int value() const { return value_; }
  void set(int value) { value_ = value; }

private:
  static void count(int change) { __atomic_add_fetch(&alive, change, __ATOMIC_RELAXED); }
  const tracked *self_;
  origin origin_;
  int value_ = -1;
};

extern tracked member_copy;
#pragma omp threadprivate(member_copy)
tracked member_copy(100);

void on_parallel(int threads)
{
  tracked first(7), second(8);
#pragma omp parallel num_threads(threads) firstprivate(first) private(second)
  {
    CHECK_EQ(first.how(), tracked::by_copy);
    CHECK_EQ(first.value(), 7);
    CHECK_EQ(second.how(), tracked::by_default);
    int me = omp_get_thread_num();
    first.set(me), second.set(me);
#pragma omp barrier
    CHECK_EQ(first.value() + second.value(), 2 * me);
  }
  CHECK_EQ(first.value(), 7);
  CHECK_EQ(second.value(), 8);
}

void on_loops(int threads)
{
  tracked last(1), both(50);
#pragma omp parallel for num_threads(threads) lastprivate(last) firstprivate(both) lastprivate(both) schedule(static, 3)
  for (int i = 0; i < 41; i++) {
    last.set(i);
    both.set(both.value() >= 50 ? 50 + i : -1);
  }
  CHECK_EQ(last.value(), 40);
  CHECK_EQ(last.how(), tracked::by_assignment);
  CHECK_EQ(both.value(), 90);
}

void on_single(int threads)
{
#pragma omp parallel num_threads(threads)
  {
    tracked object;
    std::string text = "mine";
#pragma omp single copyprivate(object, text)
    {
      object.set(33);
      text = std::string(200, 'x');
    }
    CHECK_EQ(object.value(), 33);
    CHECK_EQ(text.size(), 200);
  }
}

void on_sections(int threads)
{
  std::vector<int> numbers(10, 4);
  int sum = 0;
#pragma omp parallel sections num_threads(threads) firstprivate(numbers) reduction(+ : sum)
  {
#pragma omp section
    {
      numbers.resize(20, 1);
      for (int n : numbers) sum += n;
    }
#pragma omp section
    sum += static_cast<int>(numbers.capacity() >= 10);
  }
  CHECK_EQ(numbers.size(), 10);
  CHECK(sum >= 51);
}

void references(int threads)
{
  int value = 3, total = 0;
  int &reference = value, &sum = total;
#pragma omp parallel num_threads(threads) firstprivate(reference) reduction(+ : sum)
  {
    reference += omp_get_thread_num();
    sum += reference;
  }
  CHECK_EQ(value, 3);
  CHECK_EQ(total, 3 * threads + threads * (threads - 1) / 2);
}

#ifdef __clang__  // gcc copies in first and then constructs the copy on its first use
void threadprivate_objects(int threads)
{
  member_copy.set(200);
#pragma omp parallel num_threads(threads) copyin(member_copy)
  {
    CHECK_EQ(member_copy.value(), 200);
#pragma omp barrier
    member_copy.set(omp_get_thread_num());
#pragma omp barrier
    CHECK_EQ(member_copy.value(), omp_get_thread_num());
  }
  CHECK_EQ(member_copy.value(), 0);
}
#endif

}  // namespace

int main()
{
  long before = tracked::alive;
  everywhere(on_parallel, on_loops, on_single, on_sections, references);
  CHECK_EQ(tracked::alive, before);
#ifdef __clang__
  everywhere(threadprivate_objects);
#endif
  return check_result();
}
