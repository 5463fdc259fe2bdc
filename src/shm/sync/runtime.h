// SPDX-License-Identifier: Apache-2.0
// The functions of weft's runtime that a wait needs (include/weft/task.h), if the process has the runtime.
#pragma once

#include <cstdint>

namespace weft::shm {

class Runtime {
 public:
  // Whether the caller is a user-level thread, or a thread that has some to run.
  bool in_parallel() const noexcept { return in_parallel_ != nullptr && in_parallel_() != 0; }
  // Lets other user-level threads run. Returns whether there were some.
  bool yield() const noexcept { return yield_ != nullptr && yield_() != 0; }

 private:
  friend const Runtime& runtime() noexcept;
  Runtime() noexcept;

  int (*in_parallel_)() = nullptr;
  int (*yield_)() = nullptr;
};

// Looked up at the first wait. A runtime that is loaded later is not seen.
const Runtime& runtime() noexcept;

}  // namespace weft::shm
