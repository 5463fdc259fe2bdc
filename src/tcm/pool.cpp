// SPDX-License-Identifier: Apache-2.0
#include "tcm/pool.h"

#include <atomic>

#include "base/options.h"
#include "platform/cpus.h"
#include "tcm/permits.h"

namespace weft::tcm {

namespace {

constexpr core::GuestSide kSide{.layout = core::kGuestLayout, .tick = tick, .part = part_of_caller};

// Release and acquire: with the functions comes what they use.
std::atomic<const core::PoolSide*> g_pool{nullptr};

[[gnu::constructor]] void on_load() {
  g_pool.store(core::link<core::PoolSide>(core::kPoolLink, &kSide), std::memory_order_release);
}

}  // namespace

const core::PoolSide* pool() noexcept { return g_pool.load(std::memory_order_acquire); }

int cpus() noexcept {
  if (const core::PoolSide* side = pool()) return side->cpus();
  static const int own = base::options().num_cpus > 0 ? base::options().num_cpus : platform::cpu_budget().usable;
  return own;
}

bool welcome() noexcept {
  if (const core::PoolSide* side = pool()) return side->welcome();
  return base::options().adopt_libraries && base::options().tcm_enable;
}

bool statistics() noexcept {
  const core::PoolSide* side = pool();
  return side != nullptr ? side->statistics() : base::options().stats;
}

}  // namespace weft::tcm

extern "C" [[gnu::visibility("default")]] const void* weft_guest_link(const void* pool) {
  const auto* side = weft::core::checked<weft::core::PoolSide>(pool);
  if (side == nullptr) return nullptr;
  weft::tcm::g_pool.store(side, std::memory_order_release);
  return &weft::tcm::kSide;
}
