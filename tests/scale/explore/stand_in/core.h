// SPDX-License-Identifier: Apache-2.0
// Stands in for the core under protocols: each thread of a program is a carrier with one context, which stays there. So
// block() and unblock() are the real ones, as for a context that waits in place; nothing is switched, and nobody makes
// threads.
#pragma once

#include <array>
#include <memory>

#include "core/context/context.h"

namespace weft::core {
struct Pool;
}

namespace weft::explore {

class StandInCore {
 public:
  static constexpr int kMostThreads = 7;  // with number 0

  // For threads 1 .. `threads`, the first of which is a root. Number 0 has a context too, and never waits.
  explicit StandInCore(int threads);
  ~StandInCore();
  StandInCore(const StandInCore&) = delete;
  StandInCore& operator=(const StandInCore&) = delete;

  core::Context& context(int thread);
  // For threads that are to run what is launched: run_launched() waits for that.
  void await_launch(int first_thread);
  int first_launched() const { return first_launched_; }
  void run_launched();

 private:
  const int threads_;
  int first_launched_ = 2;
  std::unique_ptr<core::Pool> pool_;
  std::array<std::unique_ptr<core::Carrier>, size_t{kMostThreads}> carriers_;
};

}  // namespace weft::explore
