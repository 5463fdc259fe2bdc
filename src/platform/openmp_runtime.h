// SPDX-License-Identifier: Apache-2.0
// Which libraries are OpenMP runtimes: by the names under which they are asked for, and by what they define. Needs
// nothing of libc but functions of strings, so that the audit library may use it.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

#include "platform/loaded_object.h"

namespace weft::platform {

// The length of a path up to its last slash.
inline size_t folder_length(const char* path) noexcept {
  size_t length = 0;
  for (size_t i = 0; path[i] != '\0'; ++i) {
    if (path[i] == '/') length = i + 1;
  }
  return length;
}

// Whether the file's name is that of one of `libraries`, which are base names without what follows: ".so" and perhaps a
// version, or "-", a hash and that, as tools make it that put copies into wheels. Other words are other libraries:
// libgomp-plugin-nvptx.so.1.
template <size_t N>
bool is_one_of(const char* const (&libraries)[N], const char* path) noexcept {
  const char* name = path + folder_length(path);
  for (const char* library : libraries) {
    const size_t length = std::strlen(library);
    if (std::strncmp(name, library, length) != 0) continue;
    const char* rest = name + length;
    if (*rest == '-') rest += std::strspn(rest, "-0123456789abcdef");
    if (std::strncmp(rest, ".so", 3) == 0) return true;
  }
  return false;
}

inline bool has_runtime_name(const char* path) noexcept {
  constexpr const char* kRuntimes[] = {"libgomp", "libomp", "libomp5", "libiomp5"};
  return is_one_of(kRuntimes, path);
}

inline bool is_weft(const LoadedObject& object) noexcept { return object.find("weft_yield_place") != nullptr; }

// Whether a program or library defines what only runtimes do: what every region calls, and a function that stands in
// the same part of their archives. Tools that count regions have a function of the first name alone.
inline bool defines_runtime(const LoadedObject& object) noexcept {
  return (object.find("GOMP_parallel") != nullptr && object.find("omp_get_num_threads") != nullptr) ||
         (object.find("__kmpc_fork_call") != nullptr && object.find("__kmpc_global_thread_num") != nullptr);
}

}  // namespace weft::platform
