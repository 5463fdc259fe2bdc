// SPDX-License-Identifier: Apache-2.0
#include "core/monitor/stall_watch.h"

#include <algorithm>
#include <cstdlib>

namespace weft::core {

void Probe::begin(int64_t time_ns, int64_t patience_ns) noexcept {
  *this = Probe();
  began_ns_ = time_ns;
  patience_ns_ = patience_ns;
}

// Two moments that are no further apart than this count as cause and effect. It is a small part of the time for which
// nothing has moved, so that this is rare by chance; and members of equal length whose beginnings are a patience apart
// are further apart at their ends.
int64_t Probe::effect_ns(int64_t time_ns) const noexcept {
  constexpr int kPart = 16;
  return std::min((time_ns - began_ns_ + patience_ns_) / kPart, patience_ns_ / 2);
}

bool Probe::is_long_ago(const Moment& moment, int64_t time_ns) const noexcept {
  return moment.look >= 0 && looks_ - moment.look > kLooks && time_ns - moment.time_ns > effect_ns(time_ns);
}

Probe::Verdict Probe::look(const Look& now) noexcept {
  ++looks_;
  const Moment here{looks_, now.time_ns};
  if (now.others_moved && others_.look < 0) others_ = here;
  if (now.lent_progress != progress_) {
    progress_ = now.lent_progress;
    lent_ = here;
  }
  const bool both = others_.look >= 0 && lent_.look >= 0;
  if (both && (std::abs(others_.look - lent_.look) <= kLooks ||
               std::abs(others_.time_ns - lent_.time_ns) <= effect_ns(now.time_ns))) {
    return Verdict::waits;
  }
  if (is_long_ago(others_, now.time_ns)) return Verdict::computes;
  // It may take several members, one after the other, to let the others go on.
  constexpr int kLongerThanPatience = 4;
  const bool over = now.lent_idle || now.time_ns - began_ns_ > kLongerThanPatience * patience_ns_;
  if (over && is_long_ago(lent_, now.time_ns)) return Verdict::computes;
  return Verdict::open;
}

int64_t Probe::period_ns(int64_t time_ns) const noexcept {
  constexpr int64_t kShortestNs = 250'000;
  // At most this much from look to look: members of equal length that began a patience apart end a patience apart, and
  // looks must tell that from an effect.
  constexpr int64_t kLongestNs = 1'000'000;
  constexpr int kPart = 64;
  return std::clamp((time_ns - began_ns_) / kPart, kShortestNs, kLongestNs);
}

const RegionRecords::Record* RegionRecords::find(const void* function) const noexcept {
  for (const Record& record : records_) {
    if (record.function == function) return &record;
  }
  return nullptr;
}

// Returns the record of `function`. A new one takes the place of the record that was used the longest time ago; records
// of gangs stay.
RegionRecords::Record& RegionRecords::find_or_make(const void* function) noexcept {
  auto* record = const_cast<Record*>(find(function));
  if (record == nullptr) {
    record = &spare_;
    for (Record& other : records_) {
      if (other.score >= kScoreOfGangs) continue;
      if (record == &spare_ || other.used < record->used) record = &other;
    }
    *record = Record();
    record->function = function;
  }
  record->used = ++uses_;
  return *record;
}

int64_t RegionRecords::patience_ns(const void* function) const noexcept {
  const Record* record = find(function);
  return record != nullptr ? record->patience_ns : kPatienceNs;
}

void RegionRecords::waits(const void* function, int64_t now_ns) noexcept {
  Record& record = find_or_make(function);
  record.score = std::min(record.score + 1, kScoreOfGangs);
  record.patience_ns = kShortestNs;
  record.review_ns = now_ns + record.review_period_ns;
}

void RegionRecords::computes(const void* function) noexcept {
  Record& record = find_or_make(function);
  record.score = 0;
  record.patience_ns = std::min(2 * record.patience_ns, kLongestNs);
  record.review_period_ns = kReviewNs;
}

bool RegionRecords::is_gang(const void* function) const noexcept {
  const Record* record = find(function);
  return record != nullptr && record->score >= kScoreOfGangs;
}

const void* RegionRecords::review(int64_t now_ns) noexcept {
  for (Record& record : records_) {
    if (record.score < kScoreOfGangs || now_ns < record.review_ns) continue;
    record.score = kScoreOfGangs - 1;
    record.review_period_ns = std::min(2 * record.review_period_ns, kRarestReviewNs);
    return record.function;
  }
  return nullptr;
}

bool is_hopeless(const Hopeless& seen) noexcept {
  constexpr int64_t kCpuNs = 3'000'000'000;
  constexpr int64_t kRealNs = 4'000'000'000;
  constexpr int64_t kLeastCpuNs = 150'000'000;
  constexpr int64_t kLeastQuietNs = 50'000'000;
  constexpr int64_t kAsleepNs = 5'000'000'000;
  if (seen.running == 0) return seen.real_ns > kAsleepNs;
  if (seen.cpu_ns > kCpuNs) return true;
  return seen.real_ns > kRealNs && seen.cpu_ns > kLeastCpuNs && seen.quiet_ns > kLeastQuietNs;
}

}  // namespace weft::core
