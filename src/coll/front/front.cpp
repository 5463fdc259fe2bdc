// SPDX-License-Identifier: Apache-2.0
#include "coll/front/front.h"

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

bool Front::make(const Bootstrap& bootstrap) noexcept {
  if (left_ || ++calls_ < settings_.after) return false;
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
  left_ = group_ == nullptr;
  if (settings_.report && bootstrap.rank == 0) {
    if (left_) {
      base::warn("coll: %d ranks go on with MPI's own collectives: %s", bootstrap.size, why);
    } else {
      const Facts known = facts(*group_);
      base::warn("coll: %d ranks share memory: queues of %zu bytes, fragments of %zu, single copy %s", bootstrap.size,
                 known.queue_bytes, known.fragment_bytes, known.single_copy ? "yes" : "no");
    }
  }
  return !left_;
}

// Rank 0 decides: files and variables may differ between ranks, and what they do must not.
void Front::agree(int rank, int size) noexcept {
  if (rank == 0) {
    if (settings_.rules != nullptr && settings_.rules[0] != '\0') choices_ = read_rules(settings_.rules, size);
    for (int i = 0; i < kOperations; ++i) {
      if ((settings_.operations >> i & 1) == 0) choices_.leave(static_cast<Operation>(i));
    }
  }
  bcast(*group_, &choices_, sizeof choices_, 0);
}

}  // namespace weft::coll
