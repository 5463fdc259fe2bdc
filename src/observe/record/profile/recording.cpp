// SPDX-License-Identifier: Apache-2.0
#include "observe/record/profile/recording.h"

#include <new>

#include "observe/account/construct_tree.h"
#include "observe/record/profile/context_record.h"
#include "platform/cycles.h"

namespace weft::observe {

Recording::Recording(int cpus) : is_part_(true), sampler_(cpus, platform::now_ns()) {}

Recording::Recording(int cpus, int64_t began) : is_part_(false), sampler_(cpus, began) {}

bool Recording::start(LookAround look_around) {
  look_around_ = look_around;
  if (is_part_) {
    const uint32_t nodes = g_nodes.count();
    g_nodes.forget_sizes();
    before_ = sums(nodes);
    messages_before_ = messages();
    lost_nodes_before_ = g_nodes.lost();
    if (t_record != nullptr && t_record->is_serial()) t_record->set_serial(nullptr);
    sampler_.count_threads_from_now();
  }
  const auto look = [](void* self) noexcept {
    auto* recording = static_cast<Recording*>(self);
    recording->look_around_(*recording);
  };
  if (!sampler_.start(look_around != nullptr ? +look : nullptr, this)) return false;
  next_recording();
  return true;
}

bool Recording::stop() noexcept {
  next_recording();
  if (!sampler_.stop()) return false;
  try {
    spread_unwatched();
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

void Recording::spread_unwatched() {
  sampler_.ledger().spread_unwatched(g_nodes, unwatched_of(counted(g_nodes.count()), g_nodes));
}

std::vector<Sum> Recording::counted(uint32_t nodes) const {
  std::vector<Sum> all = sums(nodes);
  subtract(all, before_);
  return all;
}

std::vector<Sum> Recording::scaled_sums(uint32_t nodes) const {
  std::vector<Sum> all = counted(nodes);
  scale(all, g_nodes);
  return all;
}

std::vector<Messages> Recording::new_messages() const {
  std::vector<Messages> all = messages();
  // Rows are never removed, and keep their order.
  for (size_t i = 0; i < messages_before_.size(); ++i) {
    all[i].count -= messages_before_[i].count;
    all[i].waited -= messages_before_[i].waited;
  }
  std::erase_if(all, [](const Messages& row) { return row.count == 0; });
  return all;
}

}  // namespace weft::observe
