// SPDX-License-Identifier: Apache-2.0
// Calls of functions of libc, made to go to ours, which may call libc's. Nothing of the code is changed: what has been
// bound already is bound anew, and what is bound later finds ours in libc's table of symbols. So it does not matter
// when the runtime is loaded, by whom, or which threads there are.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::platform {

struct LibcCall {
  const char* name;
  const void* ours;
  void** theirs;  // libc's; it is there before the first call comes to ours
};

// Of functions that have the same type, as they must.
template <class Function>
LibcCall to_ours(const char* name, Function* ours, Function** theirs) noexcept {
  return {name, reinterpret_cast<const void*>(ours), reinterpret_cast<void**>(theirs)};
}

// By an object's constructor, for functions of that object; it goes on calling libc's itself. Where libc lacks one, or
// the system refuses, calls of it stay as they are.
void take_libc_calls(const LibcCall* calls, size_t count) noexcept;

// Writes one word of an object that is mapped, also one that is read-only since its relocation. False: the system
// refuses.
bool write_mapped(void** place, const void* value) noexcept;
bool write_mapped(uint32_t* place, uint32_t value) noexcept;

}  // namespace weft::platform
