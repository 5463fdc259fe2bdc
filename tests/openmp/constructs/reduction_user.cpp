// SPDX-License-Identifier: Apache-2.0
// User-defined reductions: of structures and of classes with constructors, by function and by operator, on regions, loops
// and sections; every private copy constructed is destroyed.
#include "../support/check.h"
#include "../support/everywhere.h"

#include <map>
#include <string>

namespace {

struct extent {
  int low, high;
};

void merge(extent &into, const extent &from)
{
  if (from.low < into.low) into.low = from.low;
  if (from.high > into.high) into.high = from.high;
}
#pragma omp declare reduction(extend : extent : merge(omp_out, omp_in)) initializer(omp_priv = {1000000, -1000000})

// Counts its lives, and holds memory so that a copy that was never constructed or destroyed shows.
class bag {
public:
  static inline int alive = 0;
  bag() { count(1); }
  bag(const bag &other) : words_(other.words_) { count(1); }
  bag &operator=(const bag &) = default;
  ~bag() { count(-1); }
  bag &operator+=(const bag &other)
  {
    for (auto &[word, n] : other.words_) words_[word] += n;
    return *this;
  }
  void add(const std::string &word) { words_[word]++; }
  int operator[](const std::string &word) const
  {
    auto found = words_.find(word);
    return found == words_.end() ? 0 : found->second;
  }

private:
  static void count(int change) { __atomic_add_fetch(&alive, change, __ATOMIC_RELAXED); }
  std::map<std::string, int> words_;
};
#pragma omp declare reduction(+ : bag : omp_out += omp_in)

struct chain {  // not commutative in its parts: only the set of members counts
  unsigned long long mask = 0;
  int parts = 0;
};
#pragma omp declare reduction(link : chain : omp_out.mask |= omp_in.mask, omp_out.parts += omp_in.parts)

void structures(int threads)
{
  extent range{5, 5};
#pragma omp parallel for num_threads(threads) reduction(extend : range) schedule(dynamic, 2)
  for (int i = -30; i < 90; i++) merge(range, {i, i});
  CHECK_EQ(range.low, -30);
  CHECK_EQ(range.high, 89);
#pragma omp parallel sections num_threads(threads) reduction(extend : range)
  {
#pragma omp section
    merge(range, {-500, 0});
#pragma omp section
    merge(range, {0, 700});
  }
  CHECK_EQ(range.low, -500);
  CHECK_EQ(range.high, 700);
}

void classes(int threads)
{
  bag words;
  words.add("before");
#pragma omp parallel num_threads(threads) reduction(+ : words)
  {
    words.add("member");
#pragma omp critical(weft_test_reduction_noise)
    words.add("number " + std::to_string(omp_get_thread_num()));
  }
  CHECK_EQ(words["before"], 1);
  CHECK_EQ(words["member"], threads);
  for (int i = 0; i < threads; i++) CHECK_EQ(words["number " + std::to_string(i)], 1);
}

void in_loop_nowait(int threads)
{
  chain all;
#pragma omp parallel num_threads(threads)
  {
#pragma omp for reduction(link : all) nowait
    for (int i = 0; i < 60; i++) {
      all.mask |= 1ULL << i;
      all.parts++;
    }
  }
  CHECK_EQ(all.parts, 60);
  CHECK(all.mask == (1ULL << 60) - 1);
}

template <typename T>
void templated(int threads)
{
  T sum{};
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
  for (int i = 0; i < 40; i++) sum += static_cast<T>(i);
  CHECK(sum == static_cast<T>(780));
}

}  // namespace

int main()
{
  everywhere(structures, classes, in_loop_nowait, templated<short>, templated<double>,
             templated<long double>);
  CHECK_EQ(bag::alive, 0);
  return check_result();
}
