// SPDX-License-Identifier: Apache-2.0
// The calls of buffers.def: before each, the memory that the kernel will access is made accessible, and it stays so
// until the call returns.
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstddef>
#include <cstdint>

#include <sys/syscall.h>
#include <ucontext.h>

#include "numa/collector/arrays.h"
#include "numa/collector/real.h"
#include "numa/protect/buffers.h"
#include "numa/protect/guard.h"
#include "numa/protect/leave.h"
#include "platform/system_call.h"

// Not their headers: each function is defined here with six whole words as its arguments, which the same registers hold
// whatever their types are. None of them has arguments of floating point, or more than six.

namespace weft::numa {

namespace {

using SixWords = long(long, long, long, long, long, long);

// What struct iovec, msghdr and aiocb begin with.
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
  size_t bytes;
};

constexpr size_t kPage = 4096;
constexpr size_t kToTheEnd = SIZE_MAX;

// The buffers of a call, or of a message, and what describes them.
class Buffers : public Holds {
 public:
  Buffers(long buffers, long count) noexcept { look(reinterpret_cast<const Buffer*>(buffers), count); }
  explicit Buffers(long message) noexcept { look(reinterpret_cast<const Message*>(message)); }
  // Several messages, each with its length behind it.
  struct Several {
    long messages;
    long count;
  };
  explicit Buffers(Several several) noexcept {
    struct WithLength {
      Message message;
      int flags;
      unsigned length;
    };
    const auto* of = reinterpret_cast<const WithLength*>(several.messages);
    if (of == nullptr || several.count <= 0) return;
    const long count = several.count < IOV_MAX ? several.count : IOV_MAX;
    add(reinterpret_cast<uintptr_t>(of), static_cast<size_t>(count) * sizeof *of);
    for (long i = 0; i < count; ++i) look(&of[i].message);
  }

 private:
  void look(const Message* of) noexcept {
    if (of == nullptr) return;
    add(reinterpret_cast<uintptr_t>(of), sizeof *of);
    add(of->name, of->name_bytes);
    add(of->control, of->control_bytes);
    look(of->buffers, static_cast<long>(of->count));
  }
  void look(const Buffer* buffers, long count) noexcept {
    if (buffers == nullptr || count <= 0 || count > IOV_MAX) return;
    add(reinterpret_cast<uintptr_t>(buffers), static_cast<size_t>(count) * sizeof *buffers);
    for (long i = 0; i < count; ++i) add(buffers[i].begin, buffers[i].bytes);
  }
};

void exclude_at(long address) noexcept { exclude(static_cast<uintptr_t>(address), 1); }
void exclude_range(long address, long bytes) noexcept {
  exclude(static_cast<uintptr_t>(address), static_cast<size_t>(bytes > 0 ? bytes : 1));
}

// A request of asynchronous input or output, which the C library's thread or the kernel carries out at any time.
void exclude_request(long request) noexcept {
  if (request == 0) return;
  const auto* of = reinterpret_cast<const Request*>(request);
  exclude(static_cast<uintptr_t>(request), sizeof *of);
  exclude_range(static_cast<long>(of->begin), static_cast<long>(of->bytes));
}

void exclude_requests(long list, long count) noexcept {
  const auto* requests = reinterpret_cast<const long*>(list);
  if (requests == nullptr) return;
  for (long i = 0; i < count; ++i) exclude_request(requests[i]);
}

// The stack of a context that makecontext() has made, or getcontext() and the program.
void exclude_stack_of(long context) noexcept {
  if (context == 0) return;
  const stack_t& stack = reinterpret_cast<const ucontext_t*>(context)->uc_stack;
  exclude(static_cast<uintptr_t>(context), sizeof(ucontext_t));
  if (stack.ss_sp != nullptr) exclude_range(reinterpret_cast<long>(stack.ss_sp), static_cast<long>(stack.ss_size));
}

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
#define Y(p, n) exclude_range(word[p], word[n]);
#define N(p, n) const Buffers buffers##p(Buffers::Several{word[p], word[n]});
#define R(p) exclude_request(word[p]);
#define Q(p, n) exclude_requests(word[p], word[n]);
#define C(p) exclude_stack_of(word[p]);
#define L() guard_stop(Stop::locked);

// A row of buffers.def: WEFT_CALL(name, memory) for each of up to 64 names. A macro does not expand itself, so the rest
// of the names waits in WEFT_MORE until all has been read once again.
#define WEFT_CALLS(...) WEFT_AGAIN(WEFT_FIRST(__VA_ARGS__))
#define WEFT_FIRST(memory, name, ...) WEFT_CALL(name, memory) __VA_OPT__(WEFT_MORE WEFT_NONE(memory, __VA_ARGS__))
#define WEFT_MORE() WEFT_FIRST
#define WEFT_NONE ()
#define WEFT_AGAIN(...) WEFT_AGAIN_16(WEFT_AGAIN_16(WEFT_AGAIN_16(WEFT_AGAIN_16(__VA_ARGS__))))
#define WEFT_AGAIN_16(...) WEFT_AGAIN_4(WEFT_AGAIN_4(WEFT_AGAIN_4(WEFT_AGAIN_4(__VA_ARGS__))))
#define WEFT_AGAIN_4(...) WEFT_ONCE(WEFT_ONCE(WEFT_ONCE(WEFT_ONCE(__VA_ARGS__))))
#define WEFT_ONCE(...) __VA_ARGS__

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
#include "numa/protect/buffers.def"
#undef WEFT_CALL

namespace {

using SevenWords = long(long, long, long, long, long, long, long);
constinit Real<SevenWords> g_syscall{"syscall"};

}  // namespace

namespace {

constinit Real<void(void*, size_t)> g_arc4random_buf{"arc4random_buf"};

}  // namespace

// It must not fail: a program that finds it here, though its C library has none, gets what it expects.
extern "C" [[gnu::visibility("default")]] void weft_call_arc4random_buf(void*, size_t) asm("arc4random_buf");
void weft_call_arc4random_buf(void* memory, size_t bytes) {
  const Hold hold(reinterpret_cast<uintptr_t>(memory), bytes);
  if (auto* real = g_arc4random_buf.get(); real != nullptr) return real(memory, bytes);
  for (auto* at = static_cast<unsigned char*>(memory); bytes > 0;) {
    constexpr size_t kAtOnce = 256;
    const long got = weft::platform::system_call(SYS_getrandom, at, bytes < kAtOnce ? bytes : kAtOnce, 0);
    if (got < 0 && got != -EINTR) __builtin_trap();
    at += got > 0 ? got : 0;
    bytes -= static_cast<size_t>(got > 0 ? got : 0);
  }
}

// Whatever is passed may be memory, or lead to some: nothing is protected meanwhile, but for calls of which it is known
// what they access, and that of a lock, whose memory the kernel accesses later, too. Where fewer arguments are passed,
// the rest is whatever stands there.
extern "C" [[gnu::visibility("default")]] long weft_call_syscall(long, long, long, long, long, long,
                                                                 long) asm("syscall");
long weft_call_syscall(long number, long a, long b, long c, long d, long e, long f) {
  SevenWords* real = g_syscall.get();
  if (!guard_is_on()) {
    before_leaving(number, a, b, c);
    return real(number, a, b, c, d, e, f);
  }
  switch (number) {
    case SYS_gettid:
    case SYS_getpid:
    case SYS_getcpu:
    case SYS_sched_yield:
    case SYS_tgkill:
    case SYS_close:
    case SYS_mbind:
    case SYS_membarrier: return real(number, a, b, c, d, e, f);
    case SYS_futex: exclude_at(a); return real(number, a, b, c, d, e, f);
    case SYS_read:
    case SYS_write:
    case SYS_pread64:
    case SYS_pwrite64:
    case SYS_getrandom: {
      const Hold hold(static_cast<uintptr_t>(number == SYS_getrandom ? a : b), kToTheEnd);
      return real(number, a, b, c, d, e, f);
    }
    case SYS_mprotect:
    case SYS_pkey_mprotect:
    case SYS_mlock:
    case SYS_mlock2:
    case SYS_mremap:
    case SYS_madvise:
    case SYS_msync: exclude_range(a, b); break;
    case SYS_munmap:
      if (const auto* begin = reinterpret_cast<const void*>(a); may_be_array(begin)) remove_array(begin);
      exclude_range(a, b);
      break;
    case SYS_mlockall: guard_stop(Stop::locked); break;
    case SYS_io_setup:
    case SYS_io_uring_setup: guard_stop(Stop::peers); break;
    default: before_leaving(number, a, b, c);
  }
  if (!guard_is_on()) return real(number, a, b, c, d, e, f);
  const Pause pause;
  return real(number, a, b, c, d, e, f);
}

namespace {

// The texts that a format prints: a long one goes to the kernel as it stands, without a copy. Of a format that is not
// understood nothing is held one by one, and nothing is protected meanwhile.
class Texts : public Holds {
 public:
  Texts(const char* format, va_list list) noexcept {
    if (!guard_is_on() || format == nullptr) return;
    va_list copy;
    va_copy(copy, list);
    if (!hold_texts(format, copy)) add_all();
    va_end(copy);
  }

 private:
  static bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

  bool hold_texts(const char* at, va_list& list) noexcept {
    for (; *at != '\0'; ++at) {
      if (*at != '%') continue;
      ++at;
      long precision = -1;
      while (*at != '\0' && __builtin_strchr("-+ #0'I", *at) != nullptr) ++at;
      if (*at == '*') {
        va_arg(list, int);
        ++at;
      }
      while (is_digit(*at)) ++at;
      if (*at == '$') return false;  // arguments by their numbers
      if (*at == '.') {
        ++at;
        precision = 0;
        if (*at == '*') {
          precision = va_arg(list, int);
          ++at;
        }
        for (; is_digit(*at); ++at) precision = precision < INT_MAX / 16 ? precision * 10 + (*at - '0') : precision;
      }
      int longs = 0;
      bool large = false;
      for (; *at != '\0' && __builtin_strchr("hlLqjzt", *at) != nullptr; ++at) {
        longs += *at == 'l' || *at == 'q' || *at == 'j' || *at == 'z' || *at == 't' ? 1 : 0;
        large = large || *at == 'L';
      }
      if (!take(*at, longs > 0, large, precision, list)) return false;
    }
    return true;
  }

  // One argument; false: what it is is not known.
  bool take(char conversion, bool is_long, bool is_large, long precision, va_list& list) noexcept {
    switch (conversion) {
      case '%':
      case 'm': return true;
      case 'd':
      case 'i':
      case 'o':
      case 'u':
      case 'x':
      case 'X':
      case 'c':
        if (is_long || is_large) {
          va_arg(list, long);
        } else {
          va_arg(list, int);
        }
        return true;
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
      case 'a':
      case 'A':
        if (is_large) {
          va_arg(list, long double);
        } else {
          va_arg(list, double);
        }
        return true;
      case 'p':
      case 'n':
      case 'S': va_arg(list, void*); return true;
      case 's': {
        const auto text = reinterpret_cast<uintptr_t>(va_arg(list, const char*));
        if (!is_long) add(text, precision >= 0 ? static_cast<size_t>(precision) : kToTheEnd);
        return true;
      }
      default: return false;
    }
  }
};

constinit Real<int(void*, const char*, va_list)> g_vfprintf{"vfprintf"};
constinit Real<int(const char*, va_list)> g_vprintf{"vprintf"};
constinit Real<int(void*, int, const char*, va_list)> g_vfprintf_chk{"__vfprintf_chk"};
constinit Real<int(int, const char*, va_list)> g_vprintf_chk{"__vprintf_chk"};
constinit Real<int(int, const char*, va_list)> g_vdprintf{"vdprintf"};
constinit Real<int(int, int, const char*, va_list)> g_vdprintf_chk{"__vdprintf_chk"};

}  // namespace

// Each is there with "..." and with a list. err() and its relatives end the program, or write to stderr.
#define WEFT_PRINT(name, parameters, format, real, ...)                                 \
  extern "C" [[gnu::visibility("default")]] int weft_call_##name parameters asm(#name); \
  int weft_call_##name parameters {                                                     \
    va_list list;                                                                       \
    va_start(list, format);                                                             \
    int result = 0;                                                                     \
    {                                                                                   \
      const Texts texts(format, list);                                                  \
      result = real.get()(__VA_ARGS__, list);                                           \
    }                                                                                   \
    va_end(list);                                                                       \
    return result;                                                                      \
  }
#define WEFT_PRINT_LIST(name, parameters, format, real, ...)                            \
  extern "C" [[gnu::visibility("default")]] int weft_call_##name parameters asm(#name); \
  int weft_call_##name parameters {                                                     \
    const Texts texts(format, list);                                                    \
    return real.get()(__VA_ARGS__, list);                                               \
  }
WEFT_PRINT(printf, (const char* format, ...), format, g_vprintf, format)
WEFT_PRINT(fprintf, (void* file, const char* format, ...), format, g_vfprintf, file, format)
WEFT_PRINT(dprintf, (int file, const char* format, ...), format, g_vdprintf, file, format)
WEFT_PRINT(__printf_chk, (int flag, const char* format, ...), format, g_vprintf_chk, flag, format)
WEFT_PRINT(__fprintf_chk, (void* file, int flag, const char* format, ...), format, g_vfprintf_chk, file, flag, format)
WEFT_PRINT(__dprintf_chk, (int file, int flag, const char* format, ...), format, g_vdprintf_chk, file, flag, format)
WEFT_PRINT_LIST(vprintf, (const char* format, va_list list), format, g_vprintf, format)
WEFT_PRINT_LIST(vfprintf, (void* file, const char* format, va_list list), format, g_vfprintf, file, format)
WEFT_PRINT_LIST(vdprintf, (int file, const char* format, va_list list), format, g_vdprintf, file, format)
WEFT_PRINT_LIST(__vprintf_chk, (int flag, const char* format, va_list list), format, g_vprintf_chk, flag, format)
WEFT_PRINT_LIST(__vfprintf_chk, (void* file, int flag, const char* format, va_list list), format, g_vfprintf_chk, file,
                flag, format)
WEFT_PRINT_LIST(__vdprintf_chk, (int file, int flag, const char* format, va_list list), format, g_vdprintf_chk, file,
                flag, format)

#define WEFT_WARN(name, parameters, list_parameters, v_name, ...)                                 \
  namespace {                                                                                     \
  constinit Real<void list_parameters> g_##v_name{#v_name};                                       \
  }                                                                                               \
  extern "C" [[gnu::visibility("default")]] void weft_call_##name parameters asm(#name);          \
  void weft_call_##name parameters {                                                              \
    va_list list;                                                                                 \
    va_start(list, format);                                                                       \
    {                                                                                             \
      const Texts texts(format, list);                                                            \
      g_##v_name.get()(__VA_ARGS__, list);                                                        \
    }                                                                                             \
    va_end(list);                                                                                 \
  }                                                                                               \
  extern "C" [[gnu::visibility("default")]] void weft_call_##v_name list_parameters asm(#v_name); \
  void weft_call_##v_name list_parameters {                                                       \
    const Texts texts(format, list);                                                              \
    g_##v_name.get()(__VA_ARGS__, list);                                                          \
  }
WEFT_WARN(warn, (const char* format, ...), (const char* format, va_list list), vwarn, format)
WEFT_WARN(warnx, (const char* format, ...), (const char* format, va_list list), vwarnx, format)
WEFT_WARN(err, (int code, const char* format, ...), (int code, const char* format, va_list list), verr, code, format)
WEFT_WARN(errx, (int code, const char* format, ...), (int code, const char* format, va_list list), verrx, code, format)

namespace weft::numa {

namespace {

#define WEFT_CALL(name, memory) g_##name.get();

}  // namespace

// dlsym() is not for handlers of signals: everything is looked up before there are any.
void look_up_calls() noexcept {
#include "numa/protect/buffers.def"
  g_syscall.get();
  g_vfprintf.get();
  g_vprintf.get();
  g_vdprintf.get();
  g_vfprintf_chk.get();
  g_vprintf_chk.get();
  g_vdprintf_chk.get();
  g_vwarn.get();
  g_vwarnx.get();
  g_verr.get();
  g_verrx.get();
}

}  // namespace weft::numa
