// SPDX-License-Identifier: Apache-2.0
#include "interpose/fiber_stacks.h"

#include <atomic>
#include <cstddef>
#include <mutex>
#include <new>
#include <utility>

#include <sys/mman.h>

#include "core/api/fork.h"
#include "platform/spinlock.h"

namespace weft::interpose {

namespace {

// The library's jobs use some kilobytes; where threads have small stacks by default it runs on half of this.
constexpr size_t kSize = 256u << 10;
constexpr size_t kGuard = 64u << 10;  // of every page size

constexpr size_t kRecord = alignof(std::max_align_t) * 64;

// What a carrier has. Records stay, as carriers do.
struct alignas(64) Shelf {
  platform::Spinlock lock;  // of the list; waited for only while it is trimmed
  FiberStack* first = nullptr;
  Shelf* next = nullptr;
};

// All of them. Release by the thread that adds one, acquire by a thread that walks along the list.
std::atomic<Shelf*> g_shelves{nullptr};

// The calling thread's; null: no memory for it.
Shelf* own_shelf() noexcept {
  void*& kept = core::kept_by_carrier();
  if (kept != nullptr) return static_cast<Shelf*>(kept);
  auto* made = new (std::nothrow) Shelf;
  if (made == nullptr) return nullptr;
  made->next = g_shelves.load(std::memory_order_relaxed);
  while (!g_shelves.compare_exchange_weak(made->next, made, std::memory_order_release, std::memory_order_relaxed)) {
  }
  kept = made;
  return made;
}

FiberStack* make() noexcept {
  void* memory = mmap(nullptr, kGuard + kSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* bottom = static_cast<unsigned char*>(memory) + kGuard;
  if (mprotect(bottom, kSize, PROT_READ | PROT_WRITE) != 0) {
    munmap(memory, kGuard + kSize);
    return nullptr;
  }
  return new (bottom + kSize - kRecord) FiberStack;
}

void unmap(FiberStack* stack) noexcept {
  munmap(reinterpret_cast<unsigned char*>(stack) + kRecord - kSize - kGuard, kGuard + kSize);
}

// The chain behind those that are kept, which stays with the caller.
FiberStack* cut(Shelf* shelf) noexcept {
  const std::lock_guard guard(shelf->lock);
  FiberStack** at = &shelf->first;
  for (int i = 0; i < FiberStack::kKept && *at != nullptr; ++i) at = &(*at)->next;
  return std::exchange(*at, nullptr);
}

}  // namespace

FiberStack* FiberStack::take() noexcept {
  Shelf* shelf = own_shelf();
  if (shelf == nullptr) return nullptr;
  {
    const std::lock_guard guard(shelf->lock);
    if (FiberStack* stack = shelf->first) {
      shelf->first = stack->next;
      return stack;
    }
  }
  return make();
}

void FiberStack::put(FiberStack* stack) noexcept {
  Shelf* shelf = own_shelf();
  if (shelf == nullptr) return unmap(stack);
  const std::lock_guard guard(shelf->lock);
  stack->next = shelf->first;
  shelf->first = stack;
}

void FiberStack::trim() noexcept {
  for (Shelf* shelf = g_shelves.load(std::memory_order_acquire); shelf != nullptr; shelf = shelf->next) {
    for (FiberStack* stack = cut(shelf); stack != nullptr;) {
      FiberStack* behind = stack->next;
      unmap(stack);
      stack = behind;
    }
  }
}

}  // namespace weft::interpose
