// SPDX-License-Identifier: Apache-2.0
#include "audit/start.h"

#include <cstdlib>
#include <cstring>

#include <elf.h>
#include <unistd.h>

// A variable of the dynamic linker: where the stack began, with the number of arguments, these, the environment and the
// auxiliary vector.
extern "C" void* __libc_stack_end;  // NOLINT(bugprone-reserved-identifier)

namespace weft::audit {

namespace {

long g_page_size = 0;

}  // namespace

void remember_start() noexcept { g_page_size = static_cast<long>(auxiliary(AT_PAGESZ)); }

long page_size() noexcept { return g_page_size; }

char** arguments() noexcept { return static_cast<char**>(__libc_stack_end) + 1; }

char** environment() noexcept {
  char** at = arguments();
  while (*at != nullptr) ++at;
  return at + 1;
}

unsigned long auxiliary(unsigned long type) noexcept {
  char** at = environment();
  while (*at != nullptr) ++at;
  const auto* entry = reinterpret_cast<const unsigned long*>(at + 1);
  for (; entry[0] != AT_NULL; entry += 2) {
    if (entry[0] == type) return entry[1];
  }
  return 0;
}

}  // namespace weft::audit

// In place of libc's, which this library has not (libc.cpp).
extern "C" {

char* getenv(const char* name) noexcept {
  const size_t length = std::strlen(name);
  for (char** variable = weft::audit::environment(); *variable != nullptr; ++variable) {
    if (std::strncmp(*variable, name, length) == 0 && (*variable)[length] == '=') return *variable + length + 1;
  }
  return nullptr;
}

long sysconf(int what) noexcept { return what == _SC_PAGESIZE ? weft::audit::page_size() : -1; }

}  // extern "C"
