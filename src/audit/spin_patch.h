// SPDX-License-Identifier: Apache-2.0
// Has a loop in which a thread waits (audit/spin_loop.h) call a function in each round: five bytes of it become a jump
// to a copy of what they were, with the call. All of this happens before anybody can be in the code.
//
// Nobody may jump to a byte that has changed, but for the first one. The five bytes are therefore within one
// instruction; or they are the end of the loop, and no jump leads to an instruction in them. Where a jump by a table
// may lead, nothing says, but not behind what sets the flags for the jump back.
#pragma once

#include <cstddef>
#include <cstdint>

#include "audit/spin_loop.h"

namespace weft::audit {

// A part of an object that is code.
struct Code {
  const unsigned char* begin = nullptr;
  const unsigned char* end = nullptr;
};
// All of them: linkers make one, or a few.
struct AllCode {
  static constexpr size_t kMost = 4;

  std::array<Code, kMost> parts{};
  size_t count = 0;
};

// What is known of the function that a loop is in.
struct Function {
  Code code;
  bool is_known = false;       // all of it can be decoded, and the loop begins an instruction
  bool jumps_by_table = false;  // or to an address that it has computed
};

inline Function function_around(const SpinLoop& loop, const Code& code) noexcept {
  Function function{.code = code};
  bool begins = false;
  for (const unsigned char* at = code.begin; at < code.end;) {
    const Instruction it = decode(at, code.end);
    if (it.length == 0) return function;
    begins |= at == loop.begin;
    constexpr int kJump = 4;
    function.jumps_by_table |= it.map == Instruction::Map::one_byte && it.opcode == 0xff && it.field() == kJump;
    at += it.length;
  }
  function.is_known = begins && loop.end() <= code.end;
  return function;
}

// Whether a direct jump of this part may lead to `to`, whatever its first byte is taken for.
inline bool may_be_target(const Code& code, const unsigned char* to) noexcept {
  constexpr ptrdiff_t kNear = 130;
  const bool is_here = to >= code.begin && to < code.end;
  const unsigned char* near_begin = to - code.begin > kNear ? to - kNear : code.begin;
  const unsigned char* near_end = code.end - to > kNear ? to + kNear : code.end;
  for (const unsigned char* at = near_begin; is_here && at + 2 < near_end; ++at) {
    const bool jumps = (at[0] & 0xf0) == 0x70 || at[0] == 0xeb || (at[0] & 0xfc) == 0xe0;
    if (jumps && at + 2 + static_cast<signed char>(at[1]) == to) return true;
  }
  // Distances of four bytes, wherever they stand: four of them in each of four rows at once.
  constexpr ptrdiff_t kStep = 16;
  const __m128i rows = _mm_set_epi32(12, 8, 4, 0);
  const auto is_jump = [&](const unsigned char* at) {
    int32_t distance;
    __builtin_memcpy(&distance, at, 4);
    if (at + 4 + distance != to || at == code.begin) return false;
    return at[-1] == 0xe9 || (at - code.begin > 1 && at[-2] == 0x0f && (at[-1] & 0xf0) == 0x80);
  };
  const unsigned char* at = code.begin;
  for (; code.end - at >= kStep + 4; at += kStep) {
    // Nearer than 2 GB, or the distance does not fit.
    const __m128i wanted = _mm_sub_epi32(_mm_set1_epi32(static_cast<int32_t>(to - at - 4)), rows);
    __m128i found = _mm_setzero_si128();
    for (int offset = 0; offset < 4; ++offset) {
      const __m128i distances = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + offset));
      found = _mm_or_si128(found, _mm_cmpeq_epi32(distances, _mm_sub_epi32(wanted, _mm_set1_epi32(offset))));
    }
    if (_mm_movemask_epi8(found) == 0) continue;
    for (int i = 0; i < kStep; ++i) {
      if (is_jump(at + i)) return true;
    }
  }
  for (; code.end - at >= 4; ++at) {
    if (is_jump(at)) return true;
  }
  return false;
}

class SpinPatch {
 public:
  static constexpr ptrdiff_t kJump = 5;
  // The copy: what was there, which may grow by a longer distance, and the call.
  static constexpr size_t kMostSpace = 2 * SpinLoop::kLongest;

  // `code`: of the object. `may_search`: so many bytes, for jumps into loops.
  SpinPatch(const SpinLoop& loop, const Function& function, const AllCode& code, ptrdiff_t& may_search) noexcept
      : loop_(loop) {
    if (function.is_known) choose(function, code, may_search);
  }

  bool is_possible() const noexcept { return count_ > 0; }
  // Whether a copy at `copy` reaches what the loop reads beside its code.
  bool reaches_from(const unsigned char* copy) const noexcept {
    constexpr int64_t kReach = 0x7fff0000;
    for (size_t i = first_; i < first_ + count_; ++i) {
      const Instruction& it = loop_.instructions[i];
      if (!it.is_relative()) continue;
      const unsigned char* from = loop_.begin + loop_.at[i];
      int32_t distance;
      __builtin_memcpy(&distance, from + it.displacement_at, 4);
      const int64_t wanted = distance + (from - copy);
      if (wanted > kReach || wanted < -kReach) return false;
    }
    return true;
  }
  bool takes_lock() const noexcept { return loop_.takes_lock; }
  // What is replaced begins here.
  const unsigned char* place() const noexcept { return loop_.begin + loop_.at[first_]; }

  // Writes the copy to `space`, where it will be used: how many bytes it takes. `entry`, the function that is called,
  // keeps all registers, and is as near.
  size_t write_copy(unsigned char* space, const unsigned char* entry) const noexcept {
    Writer writer{space};
    const bool to_the_end = first_ + count_ == loop_.count;
    if (!to_the_end) writer.put_call(entry);
    for (size_t i = first_; i < first_ + count_; ++i) {
      const Instruction& it = loop_.instructions[i];
      const unsigned char* from = loop_.begin + loop_.at[i];
      if (!is_jump(i)) {
        writer.put_copy(it, from);
      } else if (i + 1 < loop_.count) {
        writer.put_jump_if(it.opcode, target_of_jump(it, from));
      } else if (!effect(i).jumps_always) {
        writer.put_jump_if(it.opcode ^ 1, loop_.end());
      }
    }
    if (to_the_end) writer.put_call(entry);
    writer.put_jump(to_the_end ? loop_.begin : loop_.begin + loop_.at[first_ + count_]);
    return static_cast<size_t>(writer.at - space);
  }

  // The jump to the copy at `copy`, into the loop; `place`: where place() can be written.
  static void write_jump(unsigned char* place, const unsigned char* copy) noexcept { Writer{place}.put_jump(copy); }

 private:
  struct Writer {
    void put(const unsigned char* bytes, size_t count) noexcept {
      __builtin_memcpy(at, bytes, count);
      at += count;
    }
    void put_distance(const unsigned char* target) noexcept {
      const auto distance = static_cast<int32_t>(target - (at + 4));
      put(reinterpret_cast<const unsigned char*>(&distance), 4);
    }
    void put_jump(const unsigned char* target) noexcept {
      *at++ = 0xe9;
      put_distance(target);
    }
    void put_jump_if(int condition, const unsigned char* target) noexcept {
      *at++ = 0x0f;
      *at++ = static_cast<unsigned char>(0x80 | (condition & 0xf));
      put_distance(target);
    }
    // Functions that call nothing may use 128 bytes beyond the end of the stack (System V ABI, AMD64, 3.2.2).
    void put_call(const unsigned char* entry) noexcept {
      constexpr unsigned char kBegin[] = {0x48, 0x8d, 0x64, 0x24, 0x80};  // lea -128(%rsp), %rsp
      constexpr unsigned char kEnd[] = {0x48, 0x8d, 0xa4, 0x24, 0x80, 0x00, 0x00, 0x00};  // lea 128(%rsp), %rsp
      put(kBegin, sizeof kBegin);
      *at++ = 0xe8;
      put_distance(entry);
      put(kEnd, sizeof kEnd);
    }
    void put_copy(const Instruction& it, const unsigned char* from) noexcept {
      unsigned char* begin = at;
      put(from, it.length);
      if (!it.is_relative()) return;
      int32_t distance;
      __builtin_memcpy(&distance, from + it.displacement_at, 4);
      distance += static_cast<int32_t>(from - begin);
      __builtin_memcpy(begin + it.displacement_at, &distance, 4);
    }

    unsigned char* at;
  };

  void choose(const Function& function, const AllCode& code, ptrdiff_t& may_search) noexcept {
    // The end of the loop: the copy goes round only where the wait goes on.
    for (size_t i = loop_.count - 1; i < loop_.count; --i) {
      if (loop_.end() - (loop_.begin + loop_.at[i]) < kJump) continue;
      if (!is_entered(i, function, code, may_search)) return take(i, loop_.count - i);
      break;
    }
    // One instruction before which no flags are of use.
    for (size_t i = 0; i + 1 < loop_.count; ++i) {
      if (is_jump(i) || loop_.instructions[i].length < size_t{kJump}) continue;
      for (size_t next = i; next < loop_.count && !is_jump(next); ++next) {
        if (sets_flags(next)) return take(i, 1);
      }
    }
  }

  // Whether a jump may lead into the loop, behind the instruction `first`. To the jump back, whose flags the
  // instruction before it sets, at most another part of the function leads, and by a direct jump: in no other way flags
  // are handed over. All else may come from a part that the compiler has split off, which may be anywhere.
  bool is_entered(size_t first, const Function& function, const AllCode& code, ptrdiff_t& may_search) const noexcept {
    const size_t last = loop_.count - 1;
    for (size_t i = first + 1; i <= last; ++i) {
      const unsigned char* at = loop_.begin + loop_.at[i];
      if (may_be_target(function.code, at)) return true;
      if (i == last && sets_flags(i - 1)) continue;
      if (function.jumps_by_table) return true;
      for (size_t part = 0; part < code.count; ++part) {
        may_search -= code.parts[part].end - code.parts[part].begin;
        if (may_search < 0 || may_be_target(code.parts[part], at)) return true;
      }
    }
    return false;
  }

  void take(size_t first, size_t count) noexcept {
    first_ = first;
    count_ = count;
  }

  Effect effect(size_t i) const noexcept { return effect_of(loop_.instructions[i], loop_.begin + loop_.at[i]); }
  bool is_jump(size_t i) const noexcept { return effect(i).jumps; }
  bool sets_flags(size_t i) const noexcept { return effect(i).sets_flags; }

  const SpinLoop& loop_;
  size_t first_ = 0;
  size_t count_ = 0;  // 0: nothing can be replaced
};

}  // namespace weft::audit
