// SPDX-License-Identifier: Apache-2.0
// Which functions of a library own the wait loops that have been found in it (interpose/wait_loops.h). Each function
// must have loops of its own: their number in the whole library says nothing of one function. It needs nothing of libc,
// so that the audit library may use it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "platform/segments.h"

namespace weft::interpose {

class LoopOwners {
 public:
  using Byte = unsigned char;

  // A function that is not exported stands beside the one that uses it, at this distance at most: behind it or before
  // it, the same throughout a library.
  static constexpr size_t kBeside = 8192;

  // All functions have to be in the same segment of code.
  void add(Byte* function, size_t size, const platform::Segments& segments) noexcept {
    if (count_ == 0) code_ = segments.of(function, size);
    if (count_ == static_cast<int>(functions_.size()) || !code_.is_code() || !code_.holds(function, size)) {
      complete_ = false;
      return;
    }
    int at = count_++;
    for (; at > 0 && functions_[index(at - 1)].begin > function; --at) {
      functions_[index(at)] = functions_[index(at - 1)];
    }
    functions_[index(at)] = {.begin = function, .end = function + size};
  }

  int size() const noexcept { return count_; }
  // The range from the first function to the last, and what stands beside them in the segment. Null: there are none.
  Byte* begin() const noexcept {
    return count_ > 0 ? functions_[0].begin - std::min(kBeside, address(functions_[0].begin) - code_.begin) : nullptr;
  }
  Byte* end() const noexcept {
    if (count_ == 0) return nullptr;
    Byte* last = functions_[index(count_ - 1)].end;
    return last + std::min(kBeside, code_.end - address(last));
  }

  // A loop that is known.
  void count(const Byte* loop) noexcept {
    find_owners(loop, [](Function* behind, Function* before) {
      if (behind != nullptr) ++behind->behind;
      if (before != nullptr) ++before->before;
    });
  }

  // Something in the place of a loop that is not known: the function that it would belong to cannot be right.
  void spoil(const Byte* loop) noexcept {
    find_owners(loop, [](Function* behind, Function* before) {
      if (behind != nullptr) behind->behind = kSpoilt;
      if (before != nullptr) before->before = kSpoilt;
    });
  }

  // Whether each function has from `least` to `most` loops, in itself and on one side, which is the same for all
  // functions.
  bool each_has(int least, int most) const noexcept {
    bool before = complete_ && count_ > 0;
    bool behind = before;
    for (int i = 0; i < count_; ++i) {
      const Function& one = functions_[index(i)];
      before = before && one.before >= least && one.before <= most;
      behind = behind && one.behind >= least && one.behind <= most;
    }
    return before || behind;
  }

 private:
  // A function, with the number of loops in it and in what stands before it, up to the function added before; and the
  // same with what stands behind it.
  struct Function {
    Byte* begin = nullptr;
    Byte* end = nullptr;
    int before = 0;
    int behind = 0;
  };
  // There are some 200 in the builds that have most.
  static constexpr size_t kMost = 512;
  static constexpr int kSpoilt = 1 << 20;  // more than any function has

  static constexpr size_t index(int i) noexcept { return static_cast<size_t>(i); }
  static uintptr_t address(const Byte* at) noexcept { return reinterpret_cast<uintptr_t>(at); }

  // owners(function, function): the one that the place belongs to if what is beside a function stands behind it, and
  // the one if it stands before it; null: none.
  template <class Owners>
  void find_owners(const Byte* loop, Owners&& owners) noexcept {
    int next = 0;  // the first one behind the loop
    for (int rest = count_; rest > 0;) {
      const int half = rest / 2;
      const bool before = functions_[index(next + half)].begin <= loop;
      next += before ? half + 1 : 0;
      rest = before ? rest - half - 1 : half;
    }
    Function* last = next > 0 ? &functions_[index(next - 1)] : nullptr;
    Function* following = next < count_ ? &functions_[index(next)] : nullptr;
    if (last != nullptr && loop < last->end) return owners(last, last);
    if (last != nullptr && loop >= last->end + kBeside) last = nullptr;
    if (following != nullptr && loop < following->begin - kBeside) following = nullptr;
    owners(last, following);
  }

  platform::Segment code_;
  std::array<Function, kMost> functions_{};
  int count_ = 0;
  bool complete_ = true;
};

}  // namespace weft::interpose
