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
    sent = 2,      // a signal has been sent to the OS thread that runs the context, and may be on its way
    trying = 4,    // a donor is about to serve the context
    served = 8,    // a donor runs the context's handlers
    wanted =
        16,   // with `served`: the donor is to make the context ready; with `trying`: the donor is to leave it alone
    pin = 32,      // how many threads are sending the context a signal: in this and the higher bits
  };
  static constexpr uint8_t kPins = 0xe0;
  static constexpr uint8_t kUnread = letters | sent | kPins;
};

struct Letter;

struct Signals {
  std::atomic<Letter*> letters{nullptr};  // the letter box: a list, the last letter first
  // The donor that serves the context, by the kernel's number of its thread; 0 when the service is about to end.
  std::atomic<pid_t> server{0};
};

}  // namespace weft::core
