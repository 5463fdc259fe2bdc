// SPDX-License-Identifier: Apache-2.0
#include "core/context/worker_stacks.h"

#include <cerrno>

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/keep_errno.h"
#include "core/context/stack_overflow.h"
#include "platform/valgrind.h"

namespace weft::core {

namespace {

// Of madvise(2), which older headers lack.
constexpr int kInstallGuard = 102;

void* map(size_t size) noexcept {
  // Memory that is not touched is not there: nothing is reserved for it.
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK;
  void* mapping = mmap(nullptr, size, PROT_READ | PROT_WRITE, kFlags, -1, 0);
  return mapping != MAP_FAILED ? mapping : nullptr;
}

// Asked anew each time: memory that is locked has no such guards. An emulator may take the advice and do nothing, so
// the kernel is asked to read there.
bool system_guards() noexcept {
  if (platform::on_valgrind()) return false;
  auto* probe = static_cast<char*>(map(kGuardSize));
  if (probe == nullptr) return false;
  const bool guarded = madvise(probe, kGuardSize, kInstallGuard) == 0 && access(probe, F_OK) != 0 && errno == EFAULT;
  munmap(probe, kGuardSize);
  return guarded;
}

// Some programs and libraries run code on their stacks, as nested functions of GNU C and Fortran do: libc maps stacks
// for that then. An object without the entry wants it too, if it is the program.
bool stacks_run_code() noexcept {
  const auto looks = [](dl_phdr_info* object, size_t, void*) {
    for (int i = 0; i < object->dlpi_phnum; ++i) {
      const auto& entry = object->dlpi_phdr[i];
      if (entry.p_type == PT_GNU_STACK) return (entry.p_flags & PF_X) != 0 ? 1 : 0;
    }
    return object->dlpi_name == nullptr || object->dlpi_name[0] == '\0' ? 1 : 0;
  };
  return dl_iterate_phdr(looks, nullptr) != 0;
}

void install_guard(char* at) noexcept {
  // Refused where memory has been locked since it was mapped.
  if (madvise(at, kGuardSize, kInstallGuard) != 0) mprotect(at, kGuardSize, PROT_NONE);
}

constexpr size_t kBelowStack = kGuardSize + AlternateStack::kSize + kGuardSize;

}  // namespace

void WorkerStack::guard() const noexcept {
  const base::KeepErrno keep;
  install_guard(handlers - kGuardSize);
  install_guard(stack - kGuardSize);
}

void WorkerStack::give_back() const noexcept {
  // What runs here and what it calls stays.
  constexpr uintptr_t kBelowFrame = 16 * 1024;
  const base::KeepErrno keep;
  const auto frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  const auto begin = reinterpret_cast<uintptr_t>(stack);
  const uintptr_t end = (frame - kBelowFrame) / kGuardSize * kGuardSize;
  if (end > begin) madvise(stack, end - begin, MADV_DONTNEED);
}

void WorkerStacks::reserve(int count, size_t stack_size) noexcept {
#ifdef __SANITIZE_THREAD__
  // ThreadSanitizer keeps so much in thread-local storage that it makes stacks larger itself, those that libc maps.
  static_cast<void>(count), static_cast<void>(stack_size);
  return;
#endif
  const base::KeepErrno keep;
  if (left_ > 0 || !AlternateStack::is_large_enough() || stacks_run_code() || !system_guards()) return;
  each_ = kBelowStack + stack_size;
  next_ = static_cast<char*>(map(each_ * static_cast<size_t>(count)));
  left_ = next_ != nullptr ? count : 0;
}

void WorkerStacks::release() noexcept {
  const base::KeepErrno keep;
  if (left_ > 0) munmap(next_, each_ * static_cast<size_t>(left_));
  left_ = 0;
}

WorkerStack WorkerStacks::take() noexcept {
  if (left_ == 0) return {};
  --left_;
  char* const lowest = next_;
  next_ += each_;
  return {.stack = lowest + kBelowStack, .handlers = lowest + kGuardSize};
}

void WorkerStacks::put_back() noexcept {
  next_ -= each_;
  ++left_;
}

}  // namespace weft::core
