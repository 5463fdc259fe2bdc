// SPDX-License-Identifier: Apache-2.0
// Answers every search for an OpenMP runtime in a process with weft's library (rtld-audit(7)): that of a linked
// library, of dlopen, and those for the renamed copies inside Python wheels. So one runtime is mapped, and whatever
// asks for versions or symbols of any of those names gets them from it.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <link.h>
#include <unistd.h>

namespace {

const char* g_library = nullptr;  // null: nothing is redirected

// Base names of the runtimes, without what follows: ".so", a version, or "-" and a hash.
constexpr const char* kRuntimes[] = {"libgomp", "libomp", "libomp5", "libiomp5"};

bool is_runtime(const char* path) noexcept {
  const char* slash = std::strrchr(path, '/');
  const char* name = slash != nullptr ? slash + 1 : path;
  for (const char* runtime : kRuntimes) {
    const size_t length = std::strlen(runtime);
    if (std::strncmp(name, runtime, length) != 0) continue;
    const char* rest = name + length;
    if (std::strncmp(rest, ".so", 3) == 0) return true;
    if (*rest == '-' && std::strstr(rest, ".so") != nullptr) return true;
  }
  return false;
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] unsigned la_version(unsigned version) {
  const char* library = std::getenv("WEFT_LIBRARY");
  if (library != nullptr && access(library, R_OK) == 0) {
    g_library = library;
  } else {
    std::fprintf(stderr, "weft: WEFT_LIBRARY=%s cannot be read; the program runs on its own OpenMP runtime\n",
                 library != nullptr ? library : "");
  }
  return version < LAV_CURRENT ? version : LAV_CURRENT;
}

[[gnu::visibility("default")]] char* la_objsearch(const char* name, uintptr_t*, unsigned) {
  const char* found = g_library != nullptr && is_runtime(name) ? g_library : name;
  return const_cast<char*>(found);
}
}
