// SPDX-License-Identifier: Apache-2.0
// What a switch of context costs: to an idle context and back, stack and thread identity both ways.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "core/context/context.h"
#include "core/context/context_pool.h"
#include "platform/thread_pointer.h"

using weft::core::Context;

int main() {
  constexpr int kSwitches = 200'000;
  constexpr int kSamples = 31;
  weft::core::ContextPool pool(256 * 1024);
  Context* home = weft::core::current_context();
  Context* context = pool.make();
  if (context == nullptr) {
    std::fprintf(stderr, "context_switch: the system refused one more thread (see ulimit -u)\n");
    return 1;
  }
  weft::core::Entry entry = [](void* argument) { return static_cast<Context*>(argument); };

  std::vector<double> samples;
  for (int sample = 0; sample < kSamples; ++sample) {
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kSwitches; ++i) {
      weft::core::prepare(context, entry, home);
      weft::core::switch_to(context);
    }
    std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - begin;
    samples.push_back(elapsed.count() / kSwitches);
  }
  pool.withdraw(context);
  weft::core::ContextPool::end(context);
  pool.reuse(context);
  std::sort(samples.begin(), samples.end());
  const bool fast = weft::platform::thread_pointer_method() == weft::platform::ThreadPointerMethod::instruction;
  std::printf("thread pointer written by: %s\n", fast ? "instruction" : "system call");
  std::printf("start a call in a context and return: p10 %.1f, median %.1f, p90 %.1f ns\n", samples[kSamples / 10],
              samples[kSamples / 2], samples[kSamples * 9 / 10]);
}
