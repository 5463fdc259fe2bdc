// SPDX-License-Identifier: Apache-2.0
// What the collector asks of the code that protects pages.
#include "numa/collector/protection.h"

#include <pthread.h>

#include "numa/collector/collector.h"
#include "numa/protect/buffers.h"
#include "numa/protect/guard.h"
#include "numa/protect/guarded.h"
#include "numa/protect/sampler.h"
#include "numa/protect/signals.h"

namespace weft::numa::protection {

void prepare(const Settings& settings) noexcept { prepare_sampler(settings); }

void start() noexcept { guard_start(); }

void look_up() noexcept {
  look_up_calls();
  pthread_atfork([] { guard_before_fork(); }, [] { guard_after_fork(); }, nullptr);
}

void stop() noexcept { guard_stop(Stop::none); }

void forget() noexcept { guard_forget(); }

void give_up() noexcept {
  stop_sampler(Stop::sandbox);
  guard_stop(Stop::sandbox);
  give_faults_back();
}

// Where no thread samples, nobody else looks.
void before_array(How how) noexcept {
  if (record()->header.touching != Touching::first || !guard_is_on() || how == How::mapped) return;
  if (const Stop why = reason_not_to_sample(); why != Stop::none) guard_stop(why);
}

void add_array(int index, uintptr_t begin, size_t bytes, How how) noexcept {
  set_guard(index, begin, bytes, how);
  guard_new_array(index);
}

void after_array(How how) noexcept {
  if (how != How::mapped) start_sampler();
}

void remove_array(int index) noexcept {
  guard_old_array(index);
  clear_guard(index);
}

void replace_mapping(uintptr_t begin, size_t bytes) noexcept { exclude(begin, bytes); }

}  // namespace weft::numa::protection
