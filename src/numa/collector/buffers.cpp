// SPDX-License-Identifier: Apache-2.0
// The calls of buffers.def: before each, the memory that the kernel will access is made accessible, and it stays so
// until the call returns.
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstddef>
#include <cstdint>

#include <sys/syscall.h>

#include "numa/collector/buffers.h"
#include "numa/collector/guard.h"
#include "numa/collector/real.h"

// Not their headers: each function is defined here with six whole words as its arguments, which the same registers hold
// whatever their types are. None of them has arguments of floating point, or more than six.

namespace weft::numa {

namespace {

using SixWords = long(long, long, long, long, long, long);

// What struct iovec, msghdr, aiocb and stack_t begin with.
struct Buffer {
  uintptr_t begin;
  size_t bytes;
};
struct Message {
  uintptr_t name;
  size_t name_bytes;
  const Buffer* buffers;
  size_t count;
  uintptr_t control;
  size_t control_bytes;
};
struct Request {
  int file;
  int operation;
  int priority;
  uintptr_t begin;
};

constexpr size_t kPage = 4096;
constexpr size_t kToTheEnd = SIZE_MAX;

// Nothing is protected while it lives, if one of the buffers is of an array.
class Buffers {
 public:
  Buffers(long buffers, long count) noexcept { look(reinterpret_cast<const Buffer*>(buffers), count); }
  explicit Buffers(long message) noexcept {
    const auto* of = reinterpret_cast<const Message*>(message);
    if (of == nullptr) return;
    const Buffer others[] = {
        {reinterpret_cast<uintptr_t>(of), sizeof *of}, {of->name, of->name_bytes}, {of->control, of->control_bytes}};
    look(others, 3);
    look(of->buffers, static_cast<long>(of->count));
  }
  ~Buffers() {
    if (paused_) resume_guard();
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

 private:
  void look(const Buffer* buffers, long count) noexcept {
    if (buffers == nullptr || count <= 0 || count > IOV_MAX) return;
    bool within = is_of_array(reinterpret_cast<uintptr_t>(buffers), static_cast<size_t>(count) * sizeof *buffers);
    for (long i = 0; i < count && !within; ++i) within = is_of_array(buffers[i].begin, buffers[i].bytes);
    if (!within || paused_) return;
    paused_ = true;
    pause_guard();
  }
  bool paused_ = false;
};

void exclude_at(long address) noexcept { exclude(static_cast<uintptr_t>(address), 1); }

long missing() noexcept {
  errno = ENOSYS;
  return -1;
}

}  // namespace

}  // namespace weft::numa

using namespace weft::numa;

#define B(p, n) const Hold hold##p(static_cast<uintptr_t>(word[p]), static_cast<size_t>(word[n]));
#define M(p, n, s) \
  const Hold hold##p(static_cast<uintptr_t>(word[p]), static_cast<size_t>(word[n]) * static_cast<size_t>(word[s]));
#define K(p, n, s) const Hold hold##p(static_cast<uintptr_t>(word[p]), static_cast<size_t>(word[n]) * (s));
#define P(p) const Hold hold##p(static_cast<uintptr_t>(word[p]), kPage);
#define W(p) const Hold hold##p(static_cast<uintptr_t>(word[p]), kToTheEnd);
#define V(p, n) const Buffers buffers##p(word[p], word[n]);
#define H(p) const Buffers buffers##p(word[p]);
#define A() const Pause pause;
#define X(p) exclude_at(word[p]);
#define R(p) \
  if (word[p] != 0) exclude_at(static_cast<long>(reinterpret_cast<const Request*>(word[p])->begin));
#define S(p) \
  if (word[p] != 0) exclude_at(static_cast<long>(reinterpret_cast<const Buffer*>(word[p])->begin));
#define L() guard_stop(Stop::locked);

#define WEFT_CALL(name, memory)                                                                                   \
  namespace {                                                                                                     \
  constinit Real<SixWords> g_##name{#name};                                                                       \
  }                                                                                                               \
  extern "C" [[gnu::visibility("default")]] long weft_call_##name(long, long, long, long, long, long) asm(#name); \
  long weft_call_##name(long a, long b, long c, long d, long e, long f) {                                         \
    SixWords* real = g_##name.get();                                                                              \
    if (real == nullptr) return missing();                                                                        \
    if (!guard_is_on()) return real(a, b, c, d, e, f);                                                            \
    [[maybe_unused]] const long word[] = {a, b, c, d, e, f};                                                      \
    memory return real(a, b, c, d, e, f);                                                                         \
  }
#include "numa/collector/buffers.def"
#undef WEFT_CALL

namespace {

using SevenWords = long(long, long, long, long, long, long, long);
constinit Real<SevenWords> g_syscall{"syscall"};

}  // namespace

// Whatever is passed may be memory; but for these calls the kernel does not look into it, and for that of a lock it
// does later, too. Where fewer arguments are passed, the rest is whatever stands there.
extern "C" [[gnu::visibility("default")]] long weft_call_syscall(long, long, long, long, long, long,
                                                                 long) asm("syscall");
long weft_call_syscall(long number, long a, long b, long c, long d, long e, long f) {
  SevenWords* real = g_syscall.get();
  if (!guard_is_on()) return real(number, a, b, c, d, e, f);
  switch (number) {
    case SYS_gettid:
    case SYS_getcpu:
    case SYS_mbind:
    case SYS_madvise:
    case SYS_membarrier: return real(number, a, b, c, d, e, f);
    case SYS_futex: exclude_at(a); return real(number, a, b, c, d, e, f);
    case SYS_mprotect:
    case SYS_munmap:
    case SYS_mremap: exclude(static_cast<uintptr_t>(a), static_cast<size_t>(b)); break;
    default: break;
  }
  const Hold holds[] = {{static_cast<uintptr_t>(a), kToTheEnd}, {static_cast<uintptr_t>(b), kToTheEnd},
                        {static_cast<uintptr_t>(c), kToTheEnd}, {static_cast<uintptr_t>(d), kToTheEnd},
                        {static_cast<uintptr_t>(e), kToTheEnd}, {static_cast<uintptr_t>(f), kToTheEnd}};
  return real(number, a, b, c, d, e, f);
}

namespace {

// A long text goes to the kernel as it stands, without a copy.
bool prints_text(const char* format) noexcept {
  bool in_conversion = false;
  for (; *format != '\0'; ++format) {
    if (*format == '%') {
      in_conversion = !in_conversion;
    } else if (in_conversion && *format == 's') {
      return true;
    } else if (in_conversion &&
               ((*format >= 'a' && *format <= 'g') || *format == 'i' || *format == 'u' || *format == 'x')) {
      in_conversion = false;
    }
  }
  return false;
}

class PrintPause {
 public:
  explicit PrintPause(const char* format) noexcept : paused_(guard_is_on() && prints_text(format)) {
    if (paused_) pause_guard();
  }
  ~PrintPause() {
    if (paused_) resume_guard();
  }
  PrintPause(const PrintPause&) = delete;
  PrintPause& operator=(const PrintPause&) = delete;

 private:
  const bool paused_;
};

constinit Real<int(void*, const char*, va_list)> g_vfprintf{"vfprintf"};
constinit Real<int(const char*, va_list)> g_vprintf{"vprintf"};
constinit Real<int(void*, int, const char*, va_list)> g_vfprintf_chk{"__vfprintf_chk"};
constinit Real<int(int, const char*, va_list)> g_vprintf_chk{"__vprintf_chk"};
constinit Real<int(int, const char*, va_list)> g_vdprintf{"vdprintf"};

}  // namespace

#define WEFT_PRINT(name, parameters, format, real, ...)                                 \
  extern "C" [[gnu::visibility("default")]] int weft_call_##name parameters asm(#name); \
  int weft_call_##name parameters {                                                     \
    const PrintPause pause(format);                                                     \
    va_list list;                                                                       \
    va_start(list, format);                                                             \
    const int result = real.get()(__VA_ARGS__, list);                                   \
    va_end(list);                                                                       \
    return result;                                                                      \
  }
WEFT_PRINT(printf, (const char* format, ...), format, g_vprintf, format)
WEFT_PRINT(fprintf, (void* file, const char* format, ...), format, g_vfprintf, file, format)
WEFT_PRINT(dprintf, (int file, const char* format, ...), format, g_vdprintf, file, format)
WEFT_PRINT(__printf_chk, (int flag, const char* format, ...), format, g_vprintf_chk, flag, format)
WEFT_PRINT(__fprintf_chk, (void* file, int flag, const char* format, ...), format, g_vfprintf_chk, file, flag, format)

extern "C" {

[[gnu::visibility("default")]] int weft_call_vprintf(const char*, va_list) asm("vprintf");
int weft_call_vprintf(const char* format, va_list list) {
  const PrintPause pause(format);
  return g_vprintf.get()(format, list);
}

[[gnu::visibility("default")]] int weft_call_vfprintf(void*, const char*, va_list) asm("vfprintf");
int weft_call_vfprintf(void* file, const char* format, va_list list) {
  const PrintPause pause(format);
  return g_vfprintf.get()(file, format, list);
}

[[gnu::visibility("default")]] int weft_call___vprintf_chk(int, const char*, va_list) asm("__vprintf_chk");
int weft_call___vprintf_chk(int flag, const char* format, va_list list) {
  const PrintPause pause(format);
  return g_vprintf_chk.get()(flag, format, list);
}

[[gnu::visibility("default")]] int weft_call___vfprintf_chk(void*, int, const char*, va_list) asm("__vfprintf_chk");
int weft_call___vfprintf_chk(void* file, int flag, const char* format, va_list list) {
  const PrintPause pause(format);
  return g_vfprintf_chk.get()(file, flag, format, list);
}

}  // extern "C"

namespace weft::numa {

namespace {

#define WEFT_CALL(name, memory) g_##name.get();

}  // namespace

// dlsym() is not for handlers of signals: everything is looked up before there are any.
void look_up_calls() noexcept {
#include "numa/collector/buffers.def"
  g_syscall.get();
  g_vfprintf.get();
  g_vprintf.get();
  g_vdprintf.get();
  g_vfprintf_chk.get();
  g_vprintf_chk.get();
}

}  // namespace weft::numa
