// SPDX-License-Identifier: Apache-2.0
#include "platform/generation.h"

#include <pthread.h>

namespace weft::platform {

constinit Generation g_generation;

namespace {

// In a child handlers run in the order in which they were registered: of this library's constructors this is the first.
constexpr int kFirst = 101;
[[gnu::constructor(kFirst)]] void on_load() noexcept {
  pthread_atfork(nullptr, nullptr, [] { g_generation.number.fetch_add(1, std::memory_order_relaxed); });
}

}  // namespace

}  // namespace weft::platform
