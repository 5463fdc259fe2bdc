// SPDX-License-Identifier: Apache-2.0
// The functions of libc that this library uses. It has no libc: one in its link namespace would not know of the
// program's threads, would take room for thread-local data from the program's libraries, and would be a second one for
// tools such as valgrind, which look after one of each file only. So nothing here touches errno or thread-local data.
#include <cstdarg>
#include <cstddef>
#include <cstring>

#include <fcntl.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

// What the kernel answers: an error is a negative number.
long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) noexcept {
#if defined(__x86_64__)
  long result = number;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "+a"(result)
                   : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
#endif
}

long number(const void* pointer) noexcept { return reinterpret_cast<long>(pointer); }
// Nothing may have been written there yet.
long number(void* pointer) noexcept { return reinterpret_cast<long>(pointer); }

// As libc's functions answer, but for errno.
int answer(long result) noexcept { return result < 0 ? -1 : static_cast<int>(result); }

// In the functions that compilers put in place of loops.
void stay_a_loop() noexcept { __asm__ volatile("" : : : "memory"); }

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

extern "C" {

// ---- system calls ----

long syscall(long which, ...) noexcept {
  va_list list;
  va_start(list, which);
  long arguments[6];
  for (long& argument : arguments) argument = va_arg(list, long);
  va_end(list);
  const long result = call(which, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
  return result < 0 ? -1 : result;
}

int open(const char* path, int flags, ...) { return answer(call(SYS_openat, AT_FDCWD, number(path), flags)); }
int close(int file) { return answer(call(SYS_close, file)); }
int access(const char* path, int mode) noexcept { return answer(call(SYS_faccessat, AT_FDCWD, number(path), mode)); }

int stat(const char* path, struct stat* into) noexcept {
  return answer(call(SYS_newfstatat, AT_FDCWD, number(path), number(into)));
}

ssize_t read(int file, void* data, size_t size) {
  const long result = call(SYS_read, file, number(data), static_cast<long>(size));
  return result < 0 ? -1 : result;
}

pid_t getpid() noexcept { return answer(call(SYS_getpid)); }

off_t lseek(int file, off_t offset, int from) noexcept { return call(SYS_lseek, file, offset, from); }

ssize_t readlink(const char* path, char* into, size_t size) noexcept {
  const long result = call(SYS_readlinkat, AT_FDCWD, number(path), number(into), static_cast<long>(size));
  return result < 0 ? -1 : result;
}

ssize_t write(int file, const void* data, size_t size) {
  const long result = call(SYS_write, file, number(data), static_cast<long>(size));
  return result < 0 ? -1 : result;
}

void* mmap(void* address, size_t size, int protection, int flags, int file, off_t offset) noexcept {
  const long result = call(SYS_mmap, number(address), static_cast<long>(size), protection, flags, file, offset);
  return result < 0 && result > -4096 ? MAP_FAILED : reinterpret_cast<void*>(result);
}

int munmap(void* address, size_t size) noexcept {
  return answer(call(SYS_munmap, number(address), static_cast<long>(size)));
}

int mprotect(void* address, size_t size, int protection) noexcept {
  return answer(call(SYS_mprotect, number(address), static_cast<long>(size), protection));
}

int execve(const char* path, char* const* arguments, char* const* environment) noexcept {
  return answer(call(SYS_execve, number(path), number(arguments), number(environment)));
}

// ---- strings: compilers call some of these by themselves, also in place of a loop that does the same ----

void* memcpy(void* into, const void* from, size_t size) noexcept {
  for (size_t i = 0; i < size; ++i) {
    static_cast<char*>(into)[i] = static_cast<const char*>(from)[i];
    stay_a_loop();
  }
  return into;
}

void* memset(void* into, int value, size_t size) noexcept {
  for (size_t i = 0; i < size; ++i) {
    static_cast<char*>(into)[i] = static_cast<char>(value);
    stay_a_loop();
  }
  return into;
}

int memcmp(const void* a, const void* b, size_t size) noexcept {
  const auto* left = static_cast<const unsigned char*>(a);
  const auto* right = static_cast<const unsigned char*>(b);
  for (size_t i = 0; i < size; ++i) {
    if (left[i] != right[i]) return left[i] - right[i];
    stay_a_loop();
  }
  return 0;
}

size_t strlen(const char* text) noexcept {
  size_t length = 0;
  for (; text[length] != '\0'; ++length) stay_a_loop();
  return length;
}

int strncmp(const char* a, const char* b, size_t most) noexcept {
  for (size_t i = 0; i < most; ++i) {
    if (a[i] != b[i] || a[i] == '\0') return static_cast<unsigned char>(a[i]) - static_cast<unsigned char>(b[i]);
  }
  return 0;
}

int strcmp(const char* a, const char* b) noexcept { return strncmp(a, b, static_cast<size_t>(-1)); }

int strcasecmp(const char* a, const char* b) noexcept {
  while (*a != '\0' && lower(*a) == lower(*b)) ++a, ++b;
  return static_cast<unsigned char>(lower(*a)) - static_cast<unsigned char>(lower(*b));
}

size_t strspn(const char* text, const char* accepted) noexcept {
  size_t length = 0;
  for (; text[length] != '\0'; ++length) {
    const char* seen = accepted;
    while (*seen != '\0' && *seen != text[length]) ++seen;
    if (*seen == '\0') break;
  }
  return length;
}

}  // extern "C"
