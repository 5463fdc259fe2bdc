// SPDX-License-Identifier: Apache-2.0
// Threadprivate variables (OpenMP 5.2, section 5.2) where the compiler does not use thread-local storage: the runtime
// makes the copies. The initial thread's copy is the variable itself, all others are made at their first use. They
// belong to the context that runs a member, as thread-local storage does.
#pragma once

#include <cstddef>

namespace weft::openmp::threadprivate {

using Construct = void* (*)(void* copy);
using CopyConstruct = void* (*)(void* copy, void* from);
using Destroy = void (*)(void* copy);
// The same for an array of that many objects.
using ConstructAll = void* (*)(void* copy, size_t count);
using CopyConstructAll = void* (*)(void* copy, void* from, size_t count);
using DestroyAll = void (*)(void* copy, size_t count);

// A thread's copy of a variable. KMP programs may see it (struct private_common).
struct Copy {
  Copy* next;  // with the same hash
  Copy* made_before;
  const void* variable;
  void* copy;
  size_t size;
};

// What the copies of the variable at `address` are made and destroyed with, each may be null: without a constructor
// they begin as what the variable was before its first use.
void describe(const void* address, Construct construct, CopyConstruct copy_construct, Destroy destroy) noexcept;
void describe_array(const void* address, ConstructAll construct, CopyConstructAll copy_construct, DestroyAll destroy,
                    size_t count) noexcept;

// The calling thread's copy, made if there is none. `from`: what the variable was before its first use.
Copy* copy_of(void* address, void* from, size_t size);

// Notes what the variable is before its first use, unless that has been.
void note_original(void* address, void* from, size_t size);

}  // namespace weft::openmp::threadprivate
