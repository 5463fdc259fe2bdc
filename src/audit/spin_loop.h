// SPDX-License-Identifier: Apache-2.0
// Loops in which a thread waits for another one by looking at memory: a row of instructions that loads, compares and
// goes back to its beginning, and hands nothing over from one round to the next in a register. It writes nothing that
// another round has not written too: nothing at all; or what it exchanges for a lock that it does not get, and
// constants on its own stack. Such a loop ends only when another thread, or a device, has written. So whatever runs
// between two of its rounds is nothing that the loop could notice.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <emmintrin.h>

#include "audit/x86_instruction.h"

namespace weft::audit {

// What an instruction of such a loop does. Registers are bits, by their number in the encoding.
struct Effect {
  bool is_known = false;
  bool loads = false;
  bool sets_flags = false;
  bool jumps = false;  // by the distance that it has as its constant
  bool jumps_always = false;
  bool compares_and_exchanges = false;
  uint32_t exchanges = 0;  // registers whose values it writes to memory, or expects there
  uint32_t reads = 0;
  uint32_t writes = 0;
  // Those of which only the lowest byte is read or written. What is left of the register is that of the round before.
  uint32_t reads_byte = 0;
  uint32_t writes_byte = 0;
};

inline Effect effect_of(const Instruction& it, const unsigned char* at) noexcept {
  Effect effect;
  if (it.length == 0 || it.is_vector || it.other_addresses || it.repeat == 0xf2) return effect;
  bool is_unknown = false;
  const auto bit = [](int which) { return uint32_t{1} << which; };
  const auto known = [&effect, &is_unknown] {
    effect.is_known = !is_unknown;
    return effect;
  };
  const auto in = [&it](int first, int last) { return it.opcode >= first && it.opcode <= last; };
  const auto address = [&] {
    uint32_t read = 0;
    if (it.has_base()) read |= bit(it.base());
    if (it.has_index && it.index_register() != 4) read |= bit(it.index_register());
    return read;
  };
  // Without a prefix these bytes are the second ones of the first four registers.
  const auto read = [&](int which, bool is_byte) {
    is_unknown |= is_byte && it.rex == 0 && which >= 4;
    (is_byte ? effect.reads_byte : effect.reads) |= bit(which);
  };
  const auto write = [&](int which, bool is_byte) {
    is_unknown |= (is_byte && it.rex == 0 && which >= 4) || (!is_byte && it.is_short);
    (is_byte ? effect.writes_byte : effect.writes) |= bit(which);
  };
  const int operand = (it.mode & 7) | (it.rex & 1) << 3;
  const auto look_at_operand = [&](bool is_byte) {
    if (it.is_memory()) {
      effect.loads = true;
      effect.reads |= address();
    } else {
      read(operand, is_byte);
    }
  };

  const bool is_on_stack =
      it.is_memory() && it.has_base() && it.base() == 4 && it.has_index && it.index_register() == 4 && !it.has_segment;
  if (it.has_lock) {
    effect.sets_flags = true;
    // A fence by a write that changes nothing: lock or $0, on the stack.
    const bool is_fence = it.map == Instruction::Map::one_byte && it.opcode == 0x83 && it.field() == 1 && is_on_stack &&
                          at[it.immediate_at] == 0;
    if (is_fence) return known();
    const bool is_byte = it.opcode == 0xb0;
    const bool is_exchange = it.map == Instruction::Map::two_bytes && (is_byte || it.opcode == 0xb1);
    if (!is_exchange || !it.is_memory() || it.repeat != 0) return effect;
    effect.compares_and_exchanges = true;
    effect.exchanges = bit(it.reg()) | bit(0);
    look_at_operand(is_byte);
    read(it.reg(), is_byte);
    read(0, is_byte);
    write(0, is_byte);
    return known();
  }
  if (it.map == Instruction::Map::two_bytes) {
    if (it.repeat != 0) return effect;
    const bool is_byte = it.opcode == 0xb6 || it.opcode == 0xbe;
    if (in(0x80, 0x8f)) {
      effect.jumps = true;
      return known();
    }
    if (it.opcode == 0x1f) return known();  // nop
    if (it.opcode == 0xae && !it.is_short && (it.mode == 0xf0 || it.mode == 0xe8)) return known();  // mfence, lfence
    if (is_byte || it.opcode == 0xb7 || it.opcode == 0xbf) {
      look_at_operand(is_byte);
      write(it.reg(), false);
      return known();
    }
    return effect;
  }
  if (it.map != Instruction::Map::one_byte) return effect;
  if (it.opcode == 0x90) return (it.rex & 1) == 0 ? known() : effect;  // nop, pause
  if (it.repeat != 0) return effect;
  if (in(0x70, 0x7f) || it.opcode == 0xeb) {
    effect.jumps = true;
    effect.jumps_always = it.opcode == 0xeb;
    return known();
  }
  const bool is_byte = (it.opcode & 1) == 0;
  if (it.opcode == 0x8a || it.opcode == 0x8b) {  // mov
    look_at_operand(is_byte);
    write(it.reg(), is_byte);
    return known();
  }
  if ((it.opcode == 0x88 || it.opcode == 0x89) && !it.is_memory()) {
    read(it.reg(), is_byte);
    write(operand, is_byte);
    return known();
  }
  if ((it.opcode == 0x86 || it.opcode == 0x87) && it.is_memory()) {  // xchg
    effect.exchanges = bit(it.reg());
    look_at_operand(is_byte);
    read(it.reg(), is_byte);
    write(it.reg(), is_byte);
    return known();
  }
  if ((it.opcode == 0xc6 || it.opcode == 0xc7) && it.field() == 0 && is_on_stack) return known();  // mov of a constant
  if (it.opcode == 0x63) {  // movslq
    look_at_operand(false);
    write(it.reg(), false);
    return known();
  }
  if (it.opcode == 0x8d && it.is_memory()) {  // lea
    effect.reads = address();
    write(it.reg(), false);
    return known();
  }
  if (it.opcode == 0x98) {  // cwtl, cltq
    read(0, false);
    write(0, false);
    return known();
  }
  if (in(0xb8, 0xbf)) {  // mov of a constant
    write((it.opcode & 7) | (it.rex & 1) << 3, false);
    return known();
  }
  effect.sets_flags = true;
  if (it.opcode == 0x84 || it.opcode == 0x85 || in(0x38, 0x3b)) {  // test, cmp
    look_at_operand(is_byte);
    read(it.reg(), is_byte);
    return known();
  }
  if (it.opcode == 0x3c || it.opcode == 0x3d || it.opcode == 0xa8 || it.opcode == 0xa9) {  // of the first register
    read(0, is_byte);
    return known();
  }
  const bool is_group = it.opcode == 0x80 || it.opcode == 0x81 || it.opcode == 0x83;
  if ((is_group && it.field() == 7) || ((it.opcode == 0xf6 || it.opcode == 0xf7) && it.field() == 0)) {
    look_at_operand(is_byte);
    return known();
  }
  // A register xored with itself is 0, whatever it was.
  if ((it.opcode == 0x31 || it.opcode == 0x33) && !it.is_memory() && operand == it.reg()) {
    write(operand, false);
    return known();
  }
  // and, or, add, sub, xor: of a register.
  const auto changes = [&](int which) {
    read(which, is_byte);
    write(which, is_byte);
    return known();
  };
  const int kind = is_group ? it.field() : it.opcode >> 3 & 7;
  if (kind == 2 || kind == 3) return effect;  // they look at a flag
  if (is_group) return it.is_memory() ? effect : changes(operand);
  if (it.opcode < 0x38 && it.has_mode) {
    const bool into_operand = (it.opcode & 2) == 0;
    if (into_operand && it.is_memory()) return effect;
    look_at_operand(is_byte);
    read(it.reg(), is_byte);
    return changes(into_operand ? operand : it.reg());
  }
  return effect;
}

// One that has been found. Its instructions stand one behind the other, the last of them is the jump back.
struct SpinLoop {
  static constexpr size_t kMost = 14;
  static constexpr size_t kLongest = 48;

  const unsigned char* begin = nullptr;
  std::array<Instruction, kMost> instructions{};
  std::array<uint8_t, kMost + 1> at{};  // where each begins; then the end
  size_t count = 0;
  bool takes_lock = false;  // it tries to exchange a value

  const unsigned char* end() const noexcept { return begin + at[count]; }
};

// Where a jump leads.
inline const unsigned char* target_of_jump(const Instruction& it, const unsigned char* at) noexcept {
  int32_t distance = 0;
  if (it.immediate_size == 1) {
    distance = static_cast<signed char>(at[it.immediate_at]);
  } else {
    __builtin_memcpy(&distance, at + it.immediate_at, 4);
  }
  return at + it.length + distance;
}

// Whether a loop begins at `begin` and ends with a jump back at `jump`.
inline bool is_spin_loop(const unsigned char* begin, const unsigned char* jump, const unsigned char* end,
                         SpinLoop& loop) noexcept {
  loop.begin = begin;
  loop.count = 0;
  std::array<Effect, SpinLoop::kMost> effects;
  uint32_t written = 0;
  bool loads = false;
  bool has_flags = false;
  bool has_end = false;
  const unsigned char* at = begin;
  for (;;) {
    if (loop.count == SpinLoop::kMost || at > jump) return false;
    const Instruction it = decode(at, end);
    const Effect effect = effect_of(it, at);
    if (!effect.is_known) return false;
    effects[loop.count] = effect;
    loop.instructions[loop.count] = it;
    loop.at[loop.count++] = static_cast<uint8_t>(at - begin);
    loads |= effect.loads;
    written |= effect.writes | effect.writes_byte;
    has_flags |= effect.sets_flags;
    // Flags of the round before would be something that is handed over.
    if (effect.jumps && !has_flags) return false;
    const unsigned char* next = at + it.length;
    has_end |= effect.jumps && !effect.jumps_always;
    if (effect.jumps) {
      const unsigned char* target = target_of_jump(it, at);
      if (at == jump) {
        if (target != begin || !has_end) return false;
        loop.at[loop.count] = static_cast<uint8_t>(next - begin);
        break;
      }
      if (effect.jumps_always || (target >= begin && target <= jump)) return false;
    }
    at = next;
  }
  // One that goes on after an exchange has taken the lock, or counts.
  for (size_t i = 0; i < loop.count; ++i) {
    constexpr unsigned char kIfNotEqual = 0x75;
    const bool decides = i + 2 == loop.count && loop.instructions[i + 1].opcode == kIfNotEqual;
    if (effects[i].compares_and_exchanges && !decides) return false;
  }
  constexpr uint32_t kStack = 1u << 4;
  if (!loads || (written & kStack) != 0) return false;
  uint32_t fresh = 0;
  uint32_t fresh_byte = 0;
  uint32_t loaded = 0;  // registers that depend on what was in memory
  loop.takes_lock = false;
  for (size_t i = 0; i < loop.count; ++i) {
    if ((effects[i].reads & written & ~fresh) != 0) return false;
    if ((effects[i].reads_byte & written & ~(fresh | fresh_byte)) != 0) return false;
    // A value made of what another one was is a count or a list that all change, and none that is waited for.
    if ((effects[i].exchanges & loaded) != 0) return false;
    loop.takes_lock |= effects[i].exchanges != 0;
    const uint32_t writes = effects[i].writes | effects[i].writes_byte;
    const bool depends = effects[i].loads || ((effects[i].reads | effects[i].reads_byte) & loaded) != 0;
    loaded = depends ? loaded | writes : loaded & ~effects[i].writes;
    fresh |= effects[i].writes;
    fresh_byte |= effects[i].writes_byte;
  }
  return true;
}

// Whether such a loop may begin with these bytes: most loops do not, and a look at two bytes is cheaper than decoding.
inline bool may_begin(const unsigned char* at) noexcept {
  const unsigned op = (at[0] & 0xf0) == 0x40 ? at[1] : at[0];
  const auto among = [op](unsigned first, uint64_t ones) { return op - first < 64 && (ones >> (op - first) & 1) != 0; };
  // xor, cmp, movslq, and the prefixes of operands and segments; mov, test, xchg, lea, groups with constants, nop, mov
  // of constants; mov of constants to memory, and the others.
  constexpr uint64_t kFrom0x30 = 0b1111'0000'1010 | uint64_t{1} << (0x63 - 0x30) | uint64_t{7} << (0x64 - 0x30);
  constexpr uint64_t kFrom0x80 = 0b1'0010'1111'1111'1011 | uint64_t{0xff} << (0xb8 - 0x80);
  constexpr uint64_t kFrom0xc0 = 0b1100'0000 | uint64_t{0b1100'1001} << (0xf0 - 0xc0);
  return among(0x30, kFrom0x30) || among(0x80, kFrom0x80) || among(0xc0, kFrom0xc0) || op == 0x0f;
}

// Visits the loops in the code from `begin` to `end`, as far as bytes can tell: whether the first one begins an
// instruction is not known.
template <class Visit>
void for_each_spin_loop(const unsigned char* begin, const unsigned char* end, Visit&& visit) noexcept {
  // A jump over a byte has at least one instruction that loads before it, of two bytes.
  constexpr int kNearest = -4;
  constexpr int kFarthest = -static_cast<int>(SpinLoop::kLongest);
  constexpr ptrdiff_t kStep = 16;
  const __m128i high = _mm_set1_epi8(static_cast<char>(0xf0));
  const __m128i jumps = _mm_set1_epi8(0x70);
  const __m128i jump_always = _mm_set1_epi8(static_cast<char>(0xeb));
  const __m128i nearer = _mm_set1_epi8(kNearest + 1);
  const __m128i farther = _mm_set1_epi8(kFarthest - 1);
  SpinLoop loop;
  for (const unsigned char* at = begin; end - at > kStep; at += kStep) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i next = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 1));
    const __m128i is_jump =
        _mm_or_si128(_mm_cmpeq_epi8(_mm_and_si128(bytes, high), jumps), _mm_cmpeq_epi8(bytes, jump_always));
    const __m128i goes_back = _mm_and_si128(_mm_cmplt_epi8(next, nearer), _mm_cmpgt_epi8(next, farther));
    auto found = static_cast<unsigned>(_mm_movemask_epi8(_mm_and_si128(is_jump, goes_back)));
    for (; found != 0; found &= found - 1) {
      const unsigned char* jump = at + __builtin_ctz(found);
      const unsigned char* first = jump + 2 + static_cast<signed char>(jump[1]);
      if (first >= begin && may_begin(first) && is_spin_loop(first, jump, end, loop))
        visit(static_cast<const SpinLoop&>(loop));
    }
  }
}

}  // namespace weft::audit
