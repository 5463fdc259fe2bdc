// SPDX-License-Identifier: Apache-2.0
#include "coll/front/comparison.h"

#include "platform/cycles.h"

namespace weft::coll {

namespace {

// MPI takes the class only if its time is below this part of weft's: so weft keeps what it does as well, and a little
// noise changes nothing.
constexpr double kClearly = 0.95;
// If MPI takes so many times as long, it is not measured any further.
constexpr double kHopeless = 2;

void take_greater(void*, const void* in, void* inout, size_t count) noexcept {
  const auto* a = static_cast<const float*>(in);
  auto* b = static_cast<float*>(inout);
  for (size_t i = 0; i < count; ++i) b[i] = std::max(a[i], b[i]);
}

double median(const float* times, int count) noexcept {
  std::array<float, Comparison::kRounds> sorted;
  std::copy_n(times, count, sorted.begin());
  const auto middle = sorted.begin() + count / 2;
  std::nth_element(sorted.begin(), middle, sorted.begin() + count);
  return *middle;
}

}  // namespace

bool Comparison::compare(Group& group, Operation operation, size_t bytes, Timing& timing) noexcept {
  Class& mine = class_of(operation, bytes);
  const int measured = mine.calls++ - kCallsBefore;
  if (measured < 0) return true;
  // Each round has two calls: the first is weft's, the second MPI's.
  const int counted = measured / 2 - 1;
  const bool weft = measured % 2 == 0;
  if (weft && (counted == kEarly || counted == kCounted)) {
    decide(group, operation, bytes, counted);
    if (mine.settled) return !mine.left;
  }
  if (counted < 0) return weft;
  timing.time = &(weft ? mine.times.weft : mine.times.mpi)[static_cast<size_t>(counted)];
  barrier(group);
  timing.begin = platform::now_ns();
  return weft;
}

void Comparison::decide(Group& group, Operation operation, size_t bytes, int counted) noexcept {
  Class& mine = class_of(operation, bytes);
  Class::Times& times = mine.times;
  static_assert(sizeof times == 2 * kCounted * sizeof(float));
  allreduce(group, &times, &times, 2 * kCounted, {take_greater, nullptr, sizeof(float)});
  const auto end_weft = times.weft.begin() + counted, end_mpi = times.mpi.begin() + counted;
  const bool known =
      std::find(times.weft.begin(), end_weft, 0) == end_weft && std::find(times.mpi.begin(), end_mpi, 0) == end_mpi;
  const double weft_ns = median(times.weft.data(), counted), mpi_ns = median(times.mpi.data(), counted);
  const bool slow = known && *std::min_element(times.mpi.begin(), end_mpi) >
                                 kHopeless * *std::max_element(times.weft.begin(), end_weft);
  if (counted < kCounted && !slow) return;
  mine.settled = true;
  mine.left = known && mpi_ns < kClearly * weft_ns;
  if (tell_ == nullptr || !known) return;
  const size_t index = index_of(bytes);
  tell_(context_, {.operation = operation,
                   .from = index == 0 ? 0 : size_t{1} << (index - 1),
                   .to = index == kClasses - 1 ? SIZE_MAX : (size_t{1} << index) - 1,
                   .weft_ns = weft_ns,
                   .mpi_ns = mpi_ns,
                   .left = mine.left});
}

void Comparison::write(const Timing& timing) noexcept {
  *timing.time = static_cast<float>(platform::now_ns() - timing.begin);
}

}  // namespace weft::coll
