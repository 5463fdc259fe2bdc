// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <thread>

// Whether `done()` comes true within the time that a busy machine may need.
template <class Done>
bool await(Done&& done) {
  constexpr int kMilliseconds = 20'000;
  for (int i = 0; i < kMilliseconds; ++i) {
    if (done()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}
