// SPDX-License-Identifier: Apache-2.0
#include "observe/account/timeline.h"

#include <algorithm>

namespace weft::observe {

namespace {

Doing doing(State state) noexcept {
  switch (state) {
    case State::work:
    case State::unwatched:
    case State::unwatched_chunks: return Doing::work;
    case State::runtime: return Doing::runtime;
    case State::out: return Doing::idle;
    default: return Doing::wait;
  }
}

uint32_t cell(const Shown& shown) noexcept { return shown.node << 2 | static_cast<uint32_t>(doing(shown.state)); }

// Some megabytes in memory, and some hundred kilobytes on the page.
constexpr size_t kMostCells = 350'000;
constexpr size_t kMostRows = 4000;

}  // namespace

Timeline::Timeline(int cpus)
    : most_rows_(std::clamp<size_t>(kMostCells / static_cast<size_t>(cpus), 16, kMostRows) & ~size_t{1}),
      cpus_(static_cast<size_t>(cpus)) {}

void Timeline::take(const std::vector<Shown>& seen, int64_t time) {
  if (++skipped_ < stride_) return;
  skipped_ = 0;
  if (rows_.size() == most_rows_) {
    for (size_t i = 0; 2 * i < rows_.size(); ++i) std::swap(rows_[i], rows_[2 * i]);
    rows_.resize(rows_.size() / 2);
    stride_ *= 2;
  }
  Row row{time, std::vector<uint32_t>(cpus_, 0)};
  std::vector<bool> taken(cpus_, false);
  const auto put = [&](size_t cpu, const Shown& shown) {
    row.cpus[cpu] = cell(shown);
    taken[cpu] = true;
  };
  for (const Shown& shown : seen) {
    const auto carrier = static_cast<size_t>(shown.carrier);
    if (!shown.left && shown.carrier >= 0 && carrier < cpus_ && !taken[carrier]) put(carrier, shown);
  }
  // Threads that are no carriers, and carriers beyond the CPUs: on the first track that is free.
  for (const Shown& shown : seen) {
    if (shown.left || (shown.carrier >= 0 && static_cast<size_t>(shown.carrier) < cpus_)) continue;
    const auto free = std::find(taken.begin(), taken.end(), false);
    if (free == taken.end()) break;
    put(static_cast<size_t>(free - taken.begin()), shown);
  }
  rows_.push_back(std::move(row));
}

}  // namespace weft::observe
