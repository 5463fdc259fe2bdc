// SPDX-License-Identifier: Apache-2.0
#include "coll/front/totals.h"

#include <algorithm>
#include <cstdio>

#include "base/message.h"
#include "coll/rules/rules.h"

namespace weft::coll {

namespace {

constexpr const char* kWords[kFates] = {"by weft",       "before a group was made", "without a group",  "by rules",
                                        "by comparison", "in too many pieces",      "of data with gaps"};

unsigned long long of(const std::atomic<uint64_t>& count) noexcept { return count.load(std::memory_order_relaxed); }

}  // namespace

bool Totals::say_calls(Operation operation) const noexcept {
  const auto& calls = calls_[static_cast<int>(operation)];
  char left[256] = "";
  size_t length = 0;
  unsigned long long sum = 0;
  for (int i = 1; i < kFates; ++i) {
    const unsigned long long count = of(calls[i]);
    if (count == 0) continue;
    const int more =
        std::snprintf(left + length, sizeof left - length, "%s%llu %s", sum > 0 ? ", " : "", count, kWords[i]);
    length = std::min(length + static_cast<size_t>(more), sizeof left - 1);
    sum += count;
  }
  const unsigned long long own = of(calls[0]);
  if (own + sum == 0) return false;
  base::warn("coll: in all, %s: %llu by weft, %llu by MPI%s%s%s", kOperationNames[static_cast<int>(operation)], own,
             sum, sum > 0 ? " (" : "", left, sum > 0 ? ")" : "");
  return true;
}

void Totals::say() const noexcept {
  bool any = false;
  for (int i = 0; i < kOperations; ++i) any = say_calls(static_cast<Operation>(i)) || any;
  if (!any) return base::warn("coll: in all, rank 0 of the job has made no call that weft could take");
  char crowded[64] = "";
  if (of(crowded_) > 0) {
    std::snprintf(crowded, sizeof crowded, "; %llu with more ranks than CPUs, not compared", of(crowded_));
  }
  base::warn("coll: in all, rank 0 of the job: groups of %llu communicators, %llu others got none%s", of(groups_),
             of(refused_), crowded);
}

Totals& totals() noexcept {
  static constinit Totals own;
  return own;
}

}  // namespace weft::coll
