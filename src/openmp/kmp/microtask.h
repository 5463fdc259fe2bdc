// SPDX-License-Identifier: Apache-2.0
// KMP: the outlined function of a region, which takes as many pointers as the region shares variables.
#pragma once

#include <cstdint>

#include "base/message.h"
#include "openmp/kmp/kmp.h"

namespace weft::openmp::kmp {

// A region shares no more variables than that.
inline constexpr int kMaxArguments = 512;

// Post words: the microtask, then up to two arguments themselves or a pointer to all of them, then how many.
inline constexpr int kInlineArguments = 2;

// What each member runs, by those words.
void run_microtask(void* const* words, int number) noexcept;

// Calls `start` with what each member is to run.
template <class Start>
void with_words(Microtask task, void** arguments, int count, Start&& start) {
  if (count > kMaxArguments)
    base::fatal("a parallel region shares %d variables; at most %d are supported", count, kMaxArguments);
  void* words[core::Post::kWords] = {nullptr, reinterpret_cast<void*>(task)};
  if (count <= kInlineArguments) {
    for (int i = 0; i < count; ++i) words[2 + i] = arguments[i];
  } else {
    words[2] = arguments;
  }
  words[4] = reinterpret_cast<void*>(static_cast<intptr_t>(count));
  start(run_microtask, words);
}

}  // namespace weft::openmp::kmp
