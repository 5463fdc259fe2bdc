// SPDX-License-Identifier: Apache-2.0
// malloc and its relatives: what they return is the next allocator's, large blocks are noted. `operator new`, Fortran's
// ALLOCATE and NumPy come by them too.
#include <cerrno>
#include <cstddef>
#include <cstring>

#include <malloc.h>

#include "numa/collector/allocate.h"
#include "numa/collector/arrays.h"
#include "numa/collector/real.h"

// The C library's own, for what dlsym() allocates itself.
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void __libc_free(void*);
}

namespace weft::numa {

namespace {

struct Allocator {
  void* (*malloc)(size_t) = nullptr;
  void* (*calloc)(size_t, size_t) = nullptr;
  void* (*realloc)(void*, size_t) = nullptr;
  void (*free)(void*) = nullptr;
};
constinit Allocator g_next = {};
// A thread that looks the allocator up may allocate meanwhile: dlsym() keeps texts of errors. Before there are other
// threads, as a rule; two that look it up find the same.
constinit std::atomic<int> g_looking{0};

template <class Function>
bool find(Function*& trap, const char* name) noexcept {
  trap = reinterpret_cast<Function*>(next_function(name));
  return trap != nullptr;
}

// False: not yet, and the C library's own must do.
[[gnu::noinline]] bool look_up() noexcept {
  if (g_looking.fetch_add(1) > 0) {
    g_looking.fetch_sub(1);
    return false;
  }
  Allocator found;
  const bool all = find(found.calloc, "calloc") && find(found.realloc, "realloc") && find(found.free, "free") &&
                   find(found.malloc, "malloc");
  if (all) g_next = found;
  g_looking.fetch_sub(1);
  return all;
}

// How many calls of the allocator the thread is in. What an allocator does within one is its own affair: it may hold
// locks, and what it maps or allocates is part of what its caller gets.
constinit thread_local int t_inside = 0;

bool ready() noexcept { return __builtin_expect(g_next.malloc != nullptr, 1) || look_up(); }

// What `allocate` returns, which is noted when the thread is out of the allocator.
template <class Allocate>
void* noted(size_t bytes, How how, Allocate&& allocate) noexcept {
  ++t_inside;
  void* block = allocate();
  --t_inside;
  if (is_large(bytes) && t_inside == 0) add_array(block, bytes, how);
  return block;
}

Real<int(void**, size_t, size_t)> g_posix_memalign{"posix_memalign"};
Real<void*(size_t, size_t)> g_aligned_alloc{"aligned_alloc"};
Real<void*(size_t, size_t)> g_memalign{"memalign"};
Real<void*(size_t)> g_valloc{"valloc"};
Real<void*(size_t)> g_pvalloc{"pvalloc"};
Real<void(void*, int)> g_dallocx{"dallocx"};
Real<void(void*, size_t, int)> g_sdallocx{"sdallocx"};

void forget(void* block) noexcept {
  if (may_be_array(block)) remove_array(block);
}

}  // namespace

bool is_in_allocator() noexcept { return t_inside > 0; }

InAllocator::InAllocator() noexcept { ++t_inside; }
InAllocator::~InAllocator() { --t_inside; }

}  // namespace weft::numa

using namespace weft::numa;

extern "C" {

[[gnu::visibility("default")]] void* malloc(size_t bytes) noexcept {
  return noted(bytes, How::malloc, [=] { return ready() ? g_next.malloc(bytes) : __libc_malloc(bytes); });
}

[[gnu::visibility("default")]] void* calloc(size_t count, size_t size) noexcept {
  // A product that is too large makes no block.
  return noted(count * size, How::calloc,
               [=] { return ready() ? g_next.calloc(count, size) : __libc_calloc(count, size); });
}

// A block that moves takes its pages along, and they must be accessible.
[[gnu::visibility("default")]] void* realloc(void* block, size_t bytes) noexcept {
  forget(block);
  return noted(bytes, How::realloc,
               [=] { return ready() ? g_next.realloc(block, bytes) : __libc_realloc(block, bytes); });
}

[[gnu::visibility("default")]] void* reallocarray(void* block, size_t count, size_t size) noexcept {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return realloc(block, bytes);
}

[[gnu::visibility("default")]] void free(void* block) noexcept {
  forget(block);
  const InAllocator inside;
  if (ready()) {
    g_next.free(block);
  } else {
    __libc_free(block);
  }
}

[[gnu::visibility("default")]] void cfree(void* block) noexcept { free(block); }

// The same with a size: C23's, and jemalloc's own, which other libraries look for. Where no allocator has them the
// block is free()'s.
[[gnu::visibility("default")]] void free_sized(void* block, size_t) noexcept { free(block); }

[[gnu::visibility("default")]] void free_aligned_sized(void* block, size_t, size_t) noexcept { free(block); }

[[gnu::visibility("default")]] void dallocx(void* block, int flags) noexcept {
  forget(block);
  const InAllocator inside;
  if (auto* real = g_dallocx.get(); real != nullptr) {
    real(block, flags);
  } else {
    free(block);
  }
}

[[gnu::visibility("default")]] void sdallocx(void* block, size_t bytes, int flags) noexcept {
  forget(block);
  const InAllocator inside;
  if (auto* real = g_sdallocx.get(); real != nullptr) {
    real(block, bytes, flags);
  } else {
    free(block);
  }
}

[[gnu::visibility("default")]] int posix_memalign(void** block, size_t alignment, size_t bytes) noexcept {
  int error = 0;
  noted(bytes, How::aligned, [&]() -> void* {
    error = g_posix_memalign.get()(block, alignment, bytes);
    return error == 0 ? *block : nullptr;
  });
  return error;
}

[[gnu::visibility("default")]] void* aligned_alloc(size_t alignment, size_t bytes) noexcept {
  return noted(bytes, How::aligned, [=] { return g_aligned_alloc.get()(alignment, bytes); });
}

[[gnu::visibility("default")]] void* memalign(size_t alignment, size_t bytes) noexcept {
  return noted(bytes, How::aligned, [=] { return g_memalign.get()(alignment, bytes); });
}

[[gnu::visibility("default")]] void* valloc(size_t bytes) noexcept {
  return noted(bytes, How::aligned, [=] { return g_valloc.get()(bytes); });
}

[[gnu::visibility("default")]] void* pvalloc(size_t bytes) noexcept {
  return noted(bytes, How::aligned, [=] { return g_pvalloc.get()(bytes); });
}

}  // extern "C"
