// SPDX-License-Identifier: Apache-2.0
// Calls of a function of somebody else's library, made to go to one of ours: the function's first instructions are
// replaced by a jump. Only before anybody can be in the function, that is, when its object has just been mapped. The
// system may forbid it (SELinux's execmod); a trial on a page of its own says so beforehand. Needs nothing of libc but
// system calls, so that the audit library may use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "platform/system_call.h"

namespace weft::platform {

// The jump also hands over a pointer, as the argument behind those of the function.
struct Redirection {
  void* function = nullptr;
  const void* to = nullptr;
  const void* argument = nullptr;
  int arguments = 0;  // that the function has itself; at most 2, integers and pointers
  uint32_t note = 0;  // for a reader of the function (note_of); it stands behind the jump
};

#if defined(__x86_64__)
// movabs $argument, %rdi (%rsi, %rdx); movabs $to, %rax; jmp *%rax
inline constexpr size_t kRedirectionSize = 22;
inline void write_redirection(const Redirection& wanted, unsigned char* code) noexcept {
  constexpr unsigned char kLoad[] = {0xbf, 0xbe, 0xba};
  code[0] = 0x48;
  code[1] = kLoad[wanted.arguments];
  std::memcpy(code + 2, &wanted.argument, 8);
  code[10] = 0x48;
  code[11] = 0xb8;
  std::memcpy(code + 12, &wanted.to, 8);
  code[20] = 0xff;
  code[21] = 0xe0;
}
// Compilers begin no function like this.
inline bool is_redirected(const void* function) noexcept {
  const auto* code = static_cast<const unsigned char*>(function);
  return code[0] == 0x48 && code[10] == 0x48 && code[11] == 0xb8 && code[20] == 0xff && code[21] == 0xe0;
}
#elif defined(__aarch64__)
// ldr x<arguments>, .+16; ldr x16, .+20; br x16; nop; the argument; the target
inline constexpr size_t kRedirectionSize = 32;
inline constexpr uint32_t kLoadTarget = 0x580000b0, kJump = 0xd61f0200, kNothing = 0xd503201f;
inline void write_redirection(const Redirection& wanted, unsigned char* code) noexcept {
  const uint32_t load = 0x58000080u | static_cast<uint32_t>(wanted.arguments);
  const uint32_t instructions[] = {load, kLoadTarget, kJump, kNothing};
  std::memcpy(code, instructions, 16);
  std::memcpy(code + 16, &wanted.argument, 8);
  std::memcpy(code + 24, &wanted.to, 8);
}
inline bool is_redirected(const void* function) noexcept {
  const auto* code = static_cast<const uint32_t*>(function);
  return code[1] == kLoadTarget && code[2] == kJump && code[3] == kNothing;
}
#endif

// The note on a function that is redirected with one.
inline uint32_t note_of(const void* function) noexcept {
  uint32_t note;
  std::memcpy(&note, static_cast<const unsigned char*>(function) + kRedirectionSize, sizeof note);
  return note;
}

// Whether the system lets code that is mapped from `file` be changed.
inline bool may_change_code(const char* file) noexcept {
  const int descriptor = open(file, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  constexpr size_t kSize = 1;
  void* page = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE, descriptor, 0);
  close(descriptor);
  if (page == MAP_FAILED) return false;
  auto* byte = static_cast<volatile unsigned char*>(page);
  *byte = *byte;
  const bool may = mprotect(page, kSize, PROT_READ | PROT_EXEC) == 0;
  munmap(page, kSize);
  return may;
}

// False: nothing has been changed.
inline bool redirect(const Redirection& wanted) noexcept {
  const size_t size = kRedirectionSize + sizeof wanted.note;
  const auto page_size = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = reinterpret_cast<uintptr_t>(wanted.function) & ~(page_size - 1);
  const uintptr_t end = reinterpret_cast<uintptr_t>(wanted.function) + size;
  // Not by libc's function, which may lie in the same pages.
  const auto protect = [&](int protection) { return system_call(SYS_mprotect, begin, end - begin, protection); };
  if (protect(PROT_READ | PROT_WRITE) != 0) return false;
  auto* code = static_cast<unsigned char*>(wanted.function);
  write_redirection(wanted, code);
  if (wanted.note != 0) std::memcpy(code + kRedirectionSize, &wanted.note, sizeof wanted.note);
  __builtin___clear_cache(reinterpret_cast<char*>(code), reinterpret_cast<char*>(code + size));
  protect(PROT_READ | PROT_EXEC);
  return true;
}

}  // namespace weft::platform
