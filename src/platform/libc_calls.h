// SPDX-License-Identifier: Apache-2.0
// Calls of functions of libc, made to go to ours, which may call libc's. Nothing of the code is changed: what has been
// bound already is bound anew, and what is bound later finds ours in libc's table of symbols. So it does not matter
// when the runtime is loaded, by whom, or which threads there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

namespace weft::platform {

struct LibcCall {
  const char* name;
  const void* ours;
  void** theirs;  // libc's; it is there before the first call comes to ours
  // Whether the object calls the function itself; then it must not come back to ours through a library that wraps it.
  bool own_calls = true;
  // Not null: of the function that programs linked with an older libc have, where that is another one.
  const char* version = nullptr;
  // Where glibc's library of threads chooses the function of that name when it is bound (STT_GNU_IFUNC): what returns
  // ours.
  void* (*choose)() = nullptr;
};

// Of functions that have the same type, as they must.
template <class Function>
LibcCall to_ours(const char* name, Function* ours, Function** theirs) noexcept {
  return {name, reinterpret_cast<const void*>(ours), reinterpret_cast<void**>(theirs)};
}

// The same of one that the object does not call.
template <class Function>
LibcCall others_to_ours(const char* name, Function* ours, Function** theirs, const char* version = nullptr) noexcept {
  return {name, reinterpret_cast<const void*>(ours), reinterpret_cast<void**>(theirs), false, version};
}

// By an object's constructor, once, for functions of that object, all of them together since each time costs system
// calls; it goes on calling libc's itself. Where libc lacks one, or the system refuses, calls of it stay as they are.
using LibcCalls = std::span<const LibcCall>;
void take_libc_calls(std::initializer_list<LibcCalls> groups) noexcept;

// Writes one word of an object that is mapped, also one that is read-only since its relocation. False: the system
// refuses.
bool write_mapped(void** place, const void* value) noexcept;
bool write_mapped(uint32_t* place, uint32_t value) noexcept;

}  // namespace weft::platform
