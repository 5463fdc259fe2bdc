// SPDX-License-Identifier: Apache-2.0
// Runs loops on the thread that meets them: what the others are compared with, and the smallest engine there is.
#include <algorithm>

#include "weft/engine.h"

namespace {

const char* start(int32_t) { return nullptr; }

int32_t slots() { return 1; }

void run(weft_engine_loop* loop) {
  const uint64_t most = loop->chunk != 0 ? loop->chunk : loop->count;
  for (uint64_t begin = 0; begin < loop->count;) {
    const uint64_t end = begin + std::min(most, loop->count - begin);
    loop->piece(loop, 0, begin, end);
    begin = end;
  }
}

constexpr weft_engine kEngine{WEFT_ENGINE_VERSION, 0, start, slots, run};

}  // namespace

extern "C" [[gnu::visibility("default")]] const weft_engine* weft_engine_entry() { return &kEngine; }
