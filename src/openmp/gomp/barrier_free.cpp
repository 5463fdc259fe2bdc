// SPDX-License-Identifier: Apache-2.0
#include "openmp/gomp/barrier_free.h"

#include <array>
#include <atomic>

#include <link.h>
#include <sys/auxv.h>

#include "base/address_hash.h"
#include "platform/segments.h"

namespace weft::openmp::gomp {

namespace {

// Each region reads its entry; it is written by the first region of a function. Relaxed: where functions share an
// entry, each runs with all its members until it is the one that stands there.
constexpr unsigned kBits = 8;
alignas(64) std::array<std::atomic<Function>, 1 << kBits> g_functions{};

std::atomic<Function>& entry_of(Function function) noexcept {
  return g_functions[base::address_hash<kBits>(reinterpret_cast<uintptr_t>(function))];
}

platform::Segments segments_of_program() noexcept {
  platform::Segments found;
  const auto* headers = reinterpret_cast<const ElfW(Phdr)*>(getauxval(AT_PHDR));
  const size_t count = getauxval(AT_PHNUM);
  uintptr_t base = 0;
  for (size_t i = 0; i < count; ++i) {
    if (headers[i].p_type == PT_PHDR) base = reinterpret_cast<uintptr_t>(headers) - headers[i].p_vaddr;
  }
  for (size_t i = 0; i < count; ++i) found.add(base, headers[i]);
  return found;
}

bool is_of_program(Function function) noexcept {
  static const platform::Segments program = segments_of_program();
  return program.of(reinterpret_cast<const void*>(function), 1).is_code();
}

}  // namespace

bool is_without_barrier(Function function) noexcept {
  return entry_of(function).load(std::memory_order_relaxed) == function;
}

void note_without_barrier(Function function) noexcept {
  std::atomic<Function>& entry = entry_of(function);
  if (entry.load(std::memory_order_relaxed) != nullptr || !is_of_program(function)) return;
  entry.store(function, std::memory_order_relaxed);
}

}  // namespace weft::openmp::gomp
