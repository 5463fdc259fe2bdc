// SPDX-License-Identifier: Apache-2.0
// C++ loops and regions: iterators, range-based for, templates, lambdas, regions in member functions and constructors.
#include "../support/check.h"
#include "../support/everywhere.h"

#include <array>
#include <deque>
#include <numeric>
#include <vector>

namespace {

void iterators(int threads)
{
  std::vector<int> numbers(300);
  std::deque<int> queue(300, 1);
  std::iota(numbers.begin(), numbers.end(), 0);
  long sum = 0, forward = 0, backward = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp for reduction(+ : sum) schedule(dynamic, 7)
    for (auto it = numbers.begin(); it != numbers.end(); ++it) sum += *it;
#pragma omp for reduction(+ : forward)
    for (auto it = queue.begin(); it < queue.end(); it += 3) forward += *it;
#pragma omp for reduction(+ : backward) schedule(guided)
    for (auto it = numbers.rbegin(); it < numbers.rend(); ++it) backward += *it;
  }
  CHECK_EQ(sum, 299 * 150);
  CHECK_EQ(forward, 100);
  CHECK_EQ(backward, 299 * 150);
}

void range_based(int threads)
{
  std::array<int, 100> numbers{};
  std::vector<double> others(50, 0.5);
  double sum = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp for
    for (int &number : numbers) number++;
#pragma omp for schedule(dynamic) reduction(+ : sum)
    for (double number : others) sum += number;
  }
  for (int number : numbers) CHECK_EQ(number, 1);
  CHECK_NEAR(sum, 25, 0);
}

template <typename Index, int chunk>
long triangle(int threads, Index n)
{
  long total = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : total) schedule(dynamic, chunk)
  for (Index i = 0; i < n; ++i) total += static_cast<long>(i);
  return total;
}

void templates(int threads)
{
  CHECK_EQ((triangle<int, 1>(threads, 200)), 19900);
  CHECK_EQ((triangle<unsigned long long, 3>(threads, 200)), 19900);
  CHECK_EQ((triangle<short, 50>(threads, 200)), 19900);
}

class grid {
public:
  explicit grid(int threads) : cells_(64, 0)
  {
#pragma omp parallel for num_threads(threads)
    for (int i = 0; i < 64; i++) cells_[static_cast<unsigned>(i)] = i;
  }
  long sum(int threads) const
  {
    long total = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : total)
    for (unsigned i = 0; i < cells_.size(); i++) total += cells_[i];
    return total;
  }

private:
  std::vector<int> cells_;
};

void in_classes(int threads) { CHECK_EQ(grid(threads).sum(threads), 2016); }

void in_lambdas(int threads)
{
  int members = 0;
  auto region = [&](int size) {
#pragma omp parallel num_threads(size)
    {
      auto count = [&members] {
#pragma omp atomic
        members++;
      };
      count();
    }
  };
  region(threads);
  CHECK_EQ(members, threads);
#pragma omp parallel num_threads(2)
  region(3);
  CHECK_EQ(members, threads + 6);
}

}  // namespace

int main()
{
  everywhere(iterators, range_based, templates, in_classes, in_lambdas);
  return check_result();
}
