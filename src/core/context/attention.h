// SPDX-License-Identifier: Apache-2.0
// What signals need of a context (core/context/signals.h has the protocol). Internal to core.
#pragma once

#include <atomic>
#include <cstdint>

#include <sys/types.h>

namespace weft::core {

// Bits of Context::attention. 0, nearly always: a switch has nothing to look after.
struct Attention {
  enum Value : uint8_t {
    letters = 1,   // signals lie in the letter box
    sent = 2,      // one has been sent to the OS thread that runs it, and may be on its way
    trying = 4,    // a donor is about to take it
    served = 8,    // a donor runs its handlers
    wanted = 16,   // while served: it is to be made ready then; while a donor tries: the donor is to leave it
    pin = 32,      // how many threads are sending it a signal, in this and the higher bits
  };
  static constexpr uint8_t kPins = 0xe0;
  static constexpr uint8_t kUnread = letters | sent | kPins;
};

struct Letter;

struct Signals {
  std::atomic<Letter*> letters{nullptr};  // the last one first
  // The donor that runs its handlers, by the kernel's number of its thread; 0 when that is about to end.
  std::atomic<pid_t> server{0};
};

}  // namespace weft::core
