// SPDX-License-Identifier: Apache-2.0
#include "coll/front/front.h"

#include <cstdio>
#include <new>

#include "base/message.h"
#include "base/options.h"

namespace weft::coll {

FrontSettings settings_of_environment() noexcept {
  const base::Options& options = base::options();
  FrontSettings settings;
  settings.group.queue_bytes = static_cast<size_t>(options.collectives_queue);
  settings.group.fragment_bytes = static_cast<size_t>(options.collectives_fragment);
  settings.group.single_copy = options.collectives_single_copy;
  settings.after = options.collectives_after;
  settings.rules = options.collectives_rules.value;
  settings.compare = options.collectives_compare;
  settings.report = options.collectives_report;
  return settings;
}

void say_died(int rank) noexcept {
  base::warn(
      "coll: rank %d of a communicator has died while this process waits for it in a collective; the job ends. What "
      "that "
      "rank said last tells why",
      rank);
}

namespace {

void say_found(const Comparison::Found& found) noexcept {
  char sizes[64] = "";
  if (found.operation != Operation::barrier) {
    std::snprintf(sizes, sizeof sizes, " of %zu to %zu bytes", found.from, found.to);
  }
  base::warn("coll: %s%s: weft %.1f us, MPI %.1f us; %s takes it", kOperationNames[static_cast<int>(found.operation)],
             sizes, found.weft_ns / 1e3, found.mpi_ns / 1e3, found.left ? "MPI" : "weft");
}

}  // namespace

// A group costs some hundred microseconds. A short call saves one or two, and a longer one more.
bool Front::is_time(size_t bytes) noexcept {
  if (settings_.after > 0) return ++calls_ >= settings_.after;
  constexpr size_t kPart = 2048;
  moved_ += 1 + bytes / kPart;
  return moved_ >= settings_.pays_from;
}

bool Front::make(size_t bytes, const Bootstrap& bootstrap) noexcept {
  // The collective of MPI by which the ranks talk may itself be made of others, which come here.
  if (left_ || making_ || !is_time(bytes)) return false;
  making_ = true;
  const char* why = "";
  group_ = create(bootstrap, settings_.group, &why);
  if (group_ != nullptr) {
    agree(bootstrap.rank, bootstrap.size);
    if (!choices_.any()) {
      destroy(group_);
      group_ = nullptr;
      why = "the rules leave them all collectives";
    }
  }
  making_ = false;
  left_ = group_ == nullptr;
  if (settings_.report && bootstrap.rank == 0) tell(bootstrap.size, why);
  return !left_;
}

void Front::tell(int size, const char* why) const noexcept {
  if (left_) return base::warn("coll: %d ranks go on with MPI's own collectives: %s", size, why);
  const Facts known = facts(*group_);
  base::warn("coll: %d ranks share memory: queues of %zu bytes, fragments of %zu, single copy %s", size,
             known.queue_bytes, known.fragment_bytes, known.single_copy ? "yes" : "no");
}

// Rank 0 decides: files and variables may differ between ranks, and what they do must not.
void Front::agree(int rank, int size) noexcept {
  struct {
    Choices choices;
    bool compare;
  } all{.choices = {}, .compare = settings_.compare};
  if (rank == 0) {
    if (settings_.rules != nullptr && settings_.rules[0] != '\0') all.choices = read_rules(settings_.rules, size);
    for (int i = 0; i < kOperations; ++i) {
      if ((settings_.operations >> i & 1) == 0) all.choices.leave(static_cast<Operation>(i));
    }
  }
  bcast(*group_, &all, sizeof all, 0);
  choices_ = all.choices;
  // With more ranks than CPUs, times are those of whoever had the CPU.
  if (!all.compare || facts(*group_).crowded) return;
  comparison_.reset(new (std::nothrow) Comparison(settings_.report && rank == 0 ? say_found : nullptr));
  if (comparison_ == nullptr) base::lacking("collectives: no memory for what is compared");
}

}  // namespace weft::coll
