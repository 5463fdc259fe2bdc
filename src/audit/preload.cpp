// SPDX-License-Identifier: Apache-2.0
// Preloaded beside the runtime (weft run --preload), where the dynamic linker asks nobody: whatever opens an OpenMP
// runtime itself, by name or by path, gets weft's. Runtimes that objects need (DT_NEEDED) are mapped all the same; weft
// comes before them, so that nobody calls them.
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <unistd.h>

#include "platform/openmp_runtime.h"

namespace {

// A copy: the program may write over its environment. Null: there is no runtime to be had.
const char* g_library = nullptr;

// What opens `file` in the program's own link namespace is to open.
const char* chosen(const char* file) noexcept {
  return file != nullptr && g_library != nullptr && weft::platform::has_runtime_name(file) ? g_library : file;
}

template <class Function>
Function* next(const char* name) noexcept {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// Nothing may keep the calls of these from being jumps.
using Open = void*(const char*, int) noexcept;
using OpenIn = void*(Lmid_t, const char*, int) noexcept;

// Found once, and the same whoever finds it.
Open* next_open() noexcept {
  static Open* found = nullptr;
  Open* function = __atomic_load_n(&found, __ATOMIC_RELAXED);
  if (function == nullptr) __atomic_store_n(&found, function = next<Open>("dlopen"), __ATOMIC_RELAXED);
  return function;
}
OpenIn* next_open_in() noexcept {
  static OpenIn* found = nullptr;
  OpenIn* function = __atomic_load_n(&found, __ATOMIC_RELAXED);
  if (function == nullptr) __atomic_store_n(&found, function = next<OpenIn>("dlmopen"), __ATOMIC_RELAXED);
  return function;
}

// The runtime's; null: the program has not started, or there is no runtime.
int (*g_adopt)() = nullptr;

// Takes over what is mapped. The runtime opens copies itself, so that they stay: of such a call this does nothing.
void adopt() noexcept {
  static int busy = 0;
  if (g_adopt == nullptr || __atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE) != 0) return;
  g_adopt();
  __atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
}

// The dynamic linker initializes the libraries of LD_PRELOAD from the last one to the first, and those that the program
// is linked with before them: the runtime is ready, and so are copies.
[[gnu::constructor]] void start() noexcept {
  g_adopt = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "weft_adopt_libraries"));
  adopt();
}

[[gnu::constructor(101)]] void find_library() noexcept {
  const char* library = std::getenv("WEFT_LIBRARY");
  if (library != nullptr && access(library, R_OK) == 0) g_library = strdup(library);
}

}  // namespace

extern "C" {

// libc searches the folders of its caller, and opens in the caller's link namespace: so these end by a jump, and libc
// returns to their own caller.
[[gnu::visibility("default")]] void* dlopen(const char* file, int mode) noexcept {
  adopt();
  return next_open()(chosen(file), mode);
}

[[gnu::visibility("default")]] void* dlmopen(Lmid_t space, const char* file, int mode) noexcept {
  return next_open_in()(space, space == LM_ID_BASE ? chosen(file) : file, mode);
}

}  // extern "C"
