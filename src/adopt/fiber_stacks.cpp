// SPDX-License-Identifier: Apache-2.0
#include "adopt/fiber_stacks.h"

#include <cstddef>
#include <new>

#include <sys/mman.h>

#include "core/scheduler.h"

namespace weft::adopt {

namespace {

// The library's jobs use some kilobytes; where threads have small stacks by default it runs on half of this.
constexpr size_t kSize = 256u << 10;
constexpr size_t kGuard = 64u << 10;  // of every page size

FiberStack* make() noexcept {
  void* memory = mmap(nullptr, kGuard + kSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* bottom = static_cast<unsigned char*>(memory) + kGuard;
  if (mprotect(bottom, kSize, PROT_READ | PROT_WRITE) != 0) {
    munmap(memory, kGuard + kSize);
    return nullptr;
  }
  return new (bottom + kSize - alignof(std::max_align_t) * 64) FiberStack;
}

}  // namespace

FiberStack* FiberStack::take() noexcept {
  void*& kept = core::kept_by_carrier();
  auto* stack = static_cast<FiberStack*>(kept);
  if (stack == nullptr) return make();
  kept = stack->next;
  return stack;
}

void FiberStack::put(FiberStack* stack) noexcept {
  void*& kept = core::kept_by_carrier();
  stack->next = static_cast<FiberStack*>(kept);
  kept = stack;
}

}  // namespace weft::adopt
