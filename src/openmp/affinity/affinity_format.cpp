// SPDX-License-Identifier: Apache-2.0
#include "openmp/affinity/affinity_format.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <utility>

#include <sys/syscall.h>
#include <unistd.h>

#include "base/keep_errno.h"
#include "base/message.h"
#include "base/options.h"
#include "openmp/record/team.h"
#include "platform/cpu_set.h"
#include "platform/spinlock.h"

namespace weft::openmp {

namespace {

constexpr const char* kDefaultFormat = "level %L thread %i affinity %A";

struct Format {
  std::array<char, kMostAffinityFormat> text;
  size_t length = 0;
};

// The variable. The one of the two that is not current is written, so that it is whole in the child of a fork too.
class Variable {
 public:
  Variable() noexcept {
    const char* wanted = base::options().affinity_format.value;
    if (wanted == nullptr) wanted = kDefaultFormat;
    set(wanted, std::strlen(wanted));
  }
  void set(const char* value, size_t size) noexcept {
    const std::lock_guard guard(lock_);
    const size_t other = 1 - current_.load(std::memory_order_relaxed);
    Format& format = formats_[other];
    format.length = std::min(size, kMostAffinityFormat);
    std::copy_n(value, format.length, format.text.begin());
    // Release: of what a fork copies the text is not older than this.
    current_.store(other, std::memory_order_release);
  }
  Format get() noexcept {
    const std::lock_guard guard(lock_);
    return formats_[current_.load(std::memory_order_relaxed)];
  }

 private:
  platform::Spinlock lock_;
  std::array<Format, 2> formats_;
  std::atomic<size_t> current_{0};
};

Variable& variable() noexcept {
  static Variable variable;
  return variable;
}

// Characters into a buffer that may be too short for them.
class Output {
 public:
  Output(char* text, size_t room) noexcept : text_(text), room_(room) {}
  void add(const char* part, size_t length) noexcept {
    if (size_ < room_) std::memcpy(text_ + size_, part, std::min(length, room_ - size_));
    size_ += length;
  }
  void add_blanks(size_t count) noexcept {
    for (; count > 0; --count) add(" ", 1);
  }
  size_t end() noexcept {
    if (room_ > 0) text_[std::min(size_, room_ - 1)] = '\0';
    return size_;
  }

 private:
  char* text_;
  size_t room_;
  size_t size_ = 0;
};

struct Field {
  char letter;
  const char* name;
};
constexpr Field kFields[] = {{'t', "team_num"},       {'T', "num_teams"},   {'L', "nesting_level"},
                             {'n', "thread_num"},     {'N', "num_threads"}, {'a', "ancestor_tnum"},
                             {'H', "host"},           {'P', "process_id"},  {'i', "native_thread_id"},
                             {'A', "thread_affinity"}};

// %[[[0].]size]type, with a letter or {name} as the type.
struct Specifier {
  bool zeros = false;
  bool right = false;
  size_t width = 0;
  char letter = '\0';  // none of the fields: '\0'
};

class Reader {
 public:
  Reader(const char* at, const char* end) noexcept : at_(at), end_(end) {}
  const char* at() const noexcept { return at_; }
  bool take(char wanted) noexcept {
    if (at_ == end_ || *at_ != wanted) return false;
    ++at_;
    return true;
  }
  Specifier specifier() noexcept {
    Specifier wanted;
    wanted.zeros = take('0');
    wanted.right = take('.') || wanted.zeros;
    constexpr size_t kMostWidth = 4096;
    for (; at_ != end_ && std::isdigit(static_cast<unsigned char>(*at_)) != 0; ++at_) {
      wanted.width = std::min(wanted.width * 10 + static_cast<size_t>(*at_ - '0'), kMostWidth);
    }
    wanted.letter = take('{') ? named() : lettered();
    return wanted;
  }

 private:
  char lettered() noexcept {
    if (at_ == end_) return '\0';
    const char letter = *at_++;
    for (const Field& field : kFields) {
      if (field.letter == letter) return letter;
    }
    return '\0';
  }
  char named() noexcept {
    const char* close = std::find(at_, end_, '}');
    const size_t length = static_cast<size_t>(close - at_);
    const char* name = std::exchange(at_, close == end_ ? end_ : close + 1);
    for (const Field& field : kFields) {
      if (std::strlen(field.name) == length && std::memcmp(field.name, name, length) == 0) return field.letter;
    }
    return '\0';
  }

  const char* at_;
  const char* end_;
};

void add_number(Output& out, const Specifier& wanted, long value) noexcept {
  std::array<char, 4200> text;
  const int width = static_cast<int>(wanted.width);
  const char* form = wanted.zeros ? "%0*ld" : wanted.right ? "%*ld" : "%-*ld";
  const int length = std::snprintf(text.data(), text.size(), form, width, value);
  out.add(text.data(), static_cast<size_t>(length));
}

// Zeros are for numbers only.
void add_text(Output& out, const Specifier& wanted, const char* value) noexcept {
  const size_t length = std::strlen(value);
  const size_t blanks = wanted.width > length ? wanted.width - length : 0;
  if (wanted.right) out.add_blanks(blanks);
  out.add(value, length);
  if (!wanted.right) out.add_blanks(blanks);
}

void add_cpus(Output& out, const Specifier& wanted) noexcept {
  std::array<char, 4096> text;
  platform::format_cpu_list(platform::thread_cpus(), text.data(), text.size());
  add_text(out, wanted, text.data());
}

void add_host(Output& out, const Specifier& wanted) noexcept {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) name = {"unknown"};
  add_text(out, wanted, name.data());
}

void add_field(Output& out, const Specifier& wanted, const Member* member) noexcept {
  const Team* team = member->team;
  switch (wanted.letter) {
    case 't': return add_number(out, wanted, team->league.number);
    case 'T': return add_number(out, wanted, team->league.size);
    case 'L': return add_number(out, wanted, team->level);
    case 'n': return add_number(out, wanted, member->number);
    case 'N': return add_number(out, wanted, team->size);
    case 'a': return add_number(out, wanted, team->level > 0 ? team->parent->number : -1);
    case 'H': return add_host(out, wanted);
    case 'P': return add_number(out, wanted, getpid());
    case 'i': return add_number(out, wanted, syscall(SYS_gettid));
    case 'A': return add_cpus(out, wanted);
    default: return add_text(out, wanted, "undefined");
  }
}

size_t expand(const Member* member, const char* format, size_t length, char* text, size_t room) noexcept {
  Output out(text, room);
  const char* end = format + length;
  for (const char* at = format; at != end;) {
    const char* percent = std::find(at, end, '%');
    out.add(at, static_cast<size_t>(percent - at));
    if (percent == end) break;
    Reader reader(percent + 1, end);
    if (reader.take('%')) {
      out.add("%", 1);
    } else {
      add_field(out, reader.specifier(), member);
    }
    at = reader.at();
  }
  return out.end();
}

}  // namespace

size_t capture_affinity(const Member* member, const char* format, size_t length, char* text, size_t room) noexcept {
  const base::KeepErrno keep;
  if (length > 0) return expand(member, format, length, text, room);
  const Format current = variable().get();
  return expand(member, current.text.data(), current.length, text, room);
}

void display_affinity(const Member* member, const char* format, size_t length) noexcept {
  const base::KeepErrno keep;
  // One write, so that the lines of several threads stay whole.
  std::array<char, 8192> line;
  const size_t size = std::min(capture_affinity(member, format, length, line.data(), line.size()), line.size() - 1);
  line[size] = '\n';
  if (write(STDERR_FILENO, line.data(), size + 1) < 0) return;
}

void set_affinity_format(const char* format, size_t length) noexcept {
  if (length > kMostAffinityFormat) {
    base::warn("omp_set_affinity_format: the format has %zu characters; only the first %zu are used", length,
               kMostAffinityFormat);
  }
  variable().set(format, length);
}

size_t get_affinity_format(char* text, size_t room) noexcept {
  const Format current = variable().get();
  Output out(text, room);
  out.add(current.text.data(), current.length);
  return out.end();
}

}  // namespace weft::openmp
