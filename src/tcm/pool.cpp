// SPDX-License-Identifier: Apache-2.0
#include "tcm/pool.h"

#include <atomic>
#include <climits>
#include <cstdio>
#include <cstring>

#include <dlfcn.h>

#include "base/message.h"
#include "base/options.h"
#include "platform/cpus.h"
#include "tcm/permits.h"

namespace weft::tcm {

namespace {

constexpr core::GuestSide kSide{.layout = core::kGuestLayout, .tick = tick, .part = part_of_caller};

// Release and acquire: with the functions comes what they use.
std::atomic<const core::PoolSide*> g_pool{nullptr};

// Loads weft's runtime: the one that the user has chosen, or the one in this library's folder.
void load_runtime() noexcept {
  const char* path = base::options().runtime.value;
  char beside[PATH_MAX];
  Dl_info self;
  if (path == nullptr && dladdr(&kSide, &self) != 0 && self.dli_fname != nullptr) {
    const char* slash = std::strrchr(self.dli_fname, '/');
    const int folder = slash != nullptr ? static_cast<int>(slash + 1 - self.dli_fname) : 0;
    std::snprintf(beside, sizeof beside, "%.*slibgomp.so.1", folder, self.dli_fname);
    path = beside;
  }
  if (path == nullptr || dlopen(path, RTLD_NOW | RTLD_LOCAL) == nullptr) {
    base::warn("WEFT_NODE: weft's runtime cannot be loaded (%s); oneTBB does not share its CPUs with other processes",
               path != nullptr ? path : "no WEFT_LIBRARY");
  }
}

[[gnu::constructor]] void on_load() {
  g_pool.store(core::link<core::PoolSide>(core::kPoolLink, &kSide), std::memory_order_release);
  // Only the runtime can share CPUs with other processes. When it is loaded, it links itself to this library.
  if (g_pool.load(std::memory_order_relaxed) == nullptr && base::options().node) load_runtime();
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
  return side != nullptr ? side->statistics() : base::options().stats != base::Stats::off;
}

}  // namespace weft::tcm

extern "C" [[gnu::visibility("default")]] const void* weft_guest_link(const void* pool) {
  const auto* side = weft::core::checked<weft::core::PoolSide>(pool);
  if (side == nullptr) return nullptr;
  weft::tcm::g_pool.store(side, std::memory_order_release);
  return &weft::tcm::kSide;
}
