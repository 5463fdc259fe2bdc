// SPDX-License-Identifier: Apache-2.0
#include "openmp/gomp/left_out.h"

#include <array>
#include <atomic>

#include <link.h>
#include <sys/auxv.h>

#include "base/address_hash.h"
#include "platform/segments.h"

namespace weft::openmp::gomp {

namespace {

// Each region reads its entry; it is written by the first region of a function, and by the first that pushes tasks.
// Relaxed: where functions share an entry, one that does not stand there runs with all its members.
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

// Stands where a function has pushed tasks.
Function with_tasks() noexcept { return reinterpret_cast<Function>(uintptr_t{1}); }

}  // namespace

bool may_leave_out(Function function) noexcept {
  return entry_of(function).load(std::memory_order_relaxed) == function;
}

void note_alone(Function function) noexcept {
  std::atomic<Function>& entry = entry_of(function);
  if (entry.load(std::memory_order_relaxed) != nullptr || !is_of_program(function)) return;
  entry.store(function, std::memory_order_relaxed);
}

void note_with_tasks(Function function) noexcept {
  std::atomic<Function>& entry = entry_of(function);
  if (entry.load(std::memory_order_relaxed) != with_tasks()) entry.store(with_tasks(), std::memory_order_relaxed);
}

}  // namespace weft::openmp::gomp
