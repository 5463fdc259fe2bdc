// SPDX-License-Identifier: Apache-2.0
// Loops of C++: iterators, ranges, templates, lambdas, exceptions inside of bodies, classes as private variables.
#include <atomic>
#include <complex>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

namespace {

int failures = 0;

template <class T>
void check(const char* what, std::size_t n, const T& value, const T& expected) {
  if (value == expected) return;
  std::printf("%s: wrong for %zu iterations\n", what, n);
  ++failures;
}

std::vector<long> filled(std::size_t n) {
  std::vector<long> values(n);
  std::iota(values.begin(), values.end(), 1);
  return values;
}

long sum_of(const std::vector<long>& values) { return std::accumulate(values.begin(), values.end(), 0L); }

void iterators(std::size_t n) {
  std::vector<long> values = filled(n);
  const long before = sum_of(values);
#pragma omp parallel for
  for (auto it = values.begin(); it < values.end(); ++it) *it += 1;
  check("iterators", n, sum_of(values), before + static_cast<long>(n));
#pragma omp parallel for schedule(dynamic, 3)
  for (auto it = values.begin(); it != values.end(); ++it) *it -= 1;
  check("iterators dynamic", n, sum_of(values), before);
#pragma omp parallel for schedule(static, 2)
  for (long& value : values) value *= 2;
  check("range for", n, sum_of(values), 2 * before);
}

template <class T, int Step>
T strided(T n) {
  T found = 0;
#pragma omp parallel for reduction(+ : found) schedule(guided)
  for (T i = 0; i < n; i += Step) found += 1;
  return found;
}

void templates(std::size_t n) {
  check("template int", n, strided<int, 1>(static_cast<int>(n)), static_cast<int>(n));
  check("template unsigned", n, strided<unsigned, 3>(static_cast<unsigned>(n)), static_cast<unsigned>((n + 2) / 3));
  check("template long", n, strided<long, 7>(static_cast<long>(n)), static_cast<long>((n + 6) / 7));
}

void lambdas(std::size_t n) {
  std::vector<long> values = filled(n);
  const long before = sum_of(values);
  const auto add = [&values](long by) {
#pragma omp parallel for
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += by;
  };
  add(4);
  check("lambda", n, sum_of(values), before + 4 * static_cast<long>(n));
}

void exceptions(std::size_t n) {
  std::atomic<long> caught = 0;
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < n; ++i) {
    try {
      if (i % 3 == 0) throw std::string("third");
    } catch (const std::string& text) {
      caught += static_cast<long>(text.size());
    }
  }
  check("exceptions", n, caught.load(), 5 * static_cast<long>((n + 2) / 3));
}

struct Point {
  double x = 0, y = 0;
  Point& operator+=(const Point& other) {
    x += other.x;
    y += other.y;
    return *this;
  }
  bool operator==(const Point& other) const { return x == other.x && y == other.y; }
};
#pragma omp declare reduction(+ : Point : omp_out += omp_in) initializer(omp_priv = Point())

void own_reductions(std::size_t n) {
  Point total;
  std::complex<double> turned = 1;
#pragma omp declare reduction(+ : std::complex<double> : omp_out += omp_in) initializer(omp_priv = 0)
#pragma omp parallel for reduction(+ : total, turned)
  for (std::size_t i = 0; i < n; ++i) {
    total += Point{1, 2};
    turned += std::complex<double>(0, 1);
  }
  check("own reduction", n, total, Point{1.0 * static_cast<double>(n), 2.0 * static_cast<double>(n)});
  check("complex", n, turned, std::complex<double>(1, static_cast<double>(n)));
}

// Tells when it is made and unmade.
struct Counted {
  static inline std::atomic<int> made = 0;
  static inline std::atomic<int> alive = 0;
  long value = 0;
  Counted() { ++made, ++alive; }
  Counted(const Counted& other) : value(other.value) { ++made, ++alive; }
  Counted& operator=(const Counted&) = default;
  ~Counted() { --alive; }
};

void classes(std::size_t n) {
  Counted counted;
  counted.value = 9;
  long sum = 0;
#pragma omp parallel for firstprivate(counted) reduction(+ : sum)
  for (std::size_t i = 0; i < n; ++i) sum += counted.value;
  check("counted", n, sum, 9 * static_cast<long>(n));
  check("alive", n, Counted::alive.load(), 1);
#pragma omp parallel for lastprivate(counted)
  for (std::size_t i = 0; i < n; ++i) counted.value = static_cast<long>(i);
  if (n > 0) check("lastprivate class", n, counted.value, static_cast<long>(n) - 1);
  Point last;
#pragma omp parallel for lastprivate(last)
  for (std::size_t i = 0; i < n; ++i) last = Point{static_cast<double>(i), 1};
  if (n > 0) check("lastprivate point", n, last, Point{static_cast<double>(n) - 1, 1});
  std::vector<int> scratch(3, 5);
#pragma omp parallel for firstprivate(scratch) reduction(+ : sum)
  for (std::size_t i = 0; i < n; ++i) sum += scratch[i % 3];
  check("private vector", n, sum, 14 * static_cast<long>(n));
}

class Owner {
 public:
  explicit Owner(std::size_t n) : values_(filled(n)) {}
  long run() {
    long sum = 0;
#pragma omp parallel for collapse(2) reduction(+ : sum)
    for (std::size_t i = 0; i < values_.size(); ++i)
      for (int j = 0; j < 2; ++j) sum += values_[i];
    return sum;
  }
  long expected() const { return 2 * sum_of(values_); }

 private:
  std::vector<long> values_;
};

void members(std::size_t n) {
  Owner owner(n);
  check("member function", n, owner.run(), owner.expected());
}

// The region unwinds nothing, but what surrounds it does.
void cleanups(std::size_t n) {
  std::string held(n, 'a');
  std::vector<long> values = filled(n);
#pragma omp parallel for
  for (std::size_t i = 0; i < n; ++i) values[i] = held[i] - 'a';
  check("cleanups", n, sum_of(values), 0L);
}

}  // namespace

int main() {
  for (const std::size_t n : {0, 1, 2, 5, 8, 63, 500}) {
    iterators(n);
    templates(n);
    lambdas(n);
    exceptions(n);
    own_reductions(n);
    classes(n);
    members(n);
    cleanups(n);
  }
  return failures != 0;
}
