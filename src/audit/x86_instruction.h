// SPDX-License-Identifier: Apache-2.0
// Where instructions of x86-64 begin and end, and what they consist of (Intel's manual, volume 2, chapter 2 and
// appendix A). Those that compilers do not make count as unknown.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::audit {

struct Instruction {
  using Byte = unsigned char;

  enum class Map : uint8_t { one_byte, two_bytes, other };

  size_t length = 0;  // 0: it is unknown, or goes beyond the end
  Map map = Map::one_byte;
  Byte opcode = 0;
  Byte rex = 0;
  Byte mode = 0;                   // the byte behind the opcode that names the operands
  bool has_mode = false;
  bool is_vector = false;          // VEX, EVEX, XOP
  Byte repeat = 0;                 // 0xf2 or 0xf3
  bool has_lock = false;
  bool is_short = false;           // operands of 16 bits
  bool other_addresses = false;    // addresses of 32 bits
  bool has_segment = false;        // fs or gs
  Byte index = 0;                  // the byte behind `mode`, where has_index
  bool has_index = false;
  size_t displacement_at = 0;      // where the displacement stands; 0: there is none
  size_t immediate_at = 0;         // where the constant stands, which may be the distance of a jump
  size_t immediate_size = 0;

  bool is_memory() const noexcept { return has_mode && mode >> 6 != 3; }
  bool is_relative() const noexcept { return has_mode && mode >> 6 == 0 && (mode & 7) == 5; }
  int field() const noexcept { return mode >> 3 & 7; }
  int reg() const noexcept { return field() | (rex & 4) << 1; }
  int base() const noexcept { return ((has_index ? index : mode) & 7) | (rex & 1) << 3; }
  int index_register() const noexcept { return (index >> 3 & 7) | (rex & 2) << 2; }
  bool has_base() const noexcept { return !is_relative() && !(has_index && mode >> 6 == 0 && (index & 7) == 5); }
};

// Of the bytes from `at` up to `end`.
inline Instruction decode(const unsigned char* const at, const unsigned char* const end) noexcept {
  using Byte = unsigned char;
  constexpr Instruction kUnknown;
  constexpr size_t kLongest = 15;
  const size_t room = static_cast<size_t>(end - at) < kLongest ? static_cast<size_t>(end - at) : kLongest;
  Instruction found;
  size_t i = 0;
  bool more = true;
  while (more && i < room) {
    switch (at[i]) {
      case 0x66: found.is_short = true; break;
      case 0x67: found.other_addresses = true; break;
      case 0xf0: found.has_lock = true; break;
      case 0xf2:
      case 0xf3: found.repeat = at[i]; break;
      case 0x64:
      case 0x65: found.has_segment = true; break;
      case 0x26:
      case 0x2e:
      case 0x36:
      case 0x3e: break;
      default: more = false; break;
    }
    if (more) ++i;
  }
  if (i < room && (at[i] & 0xf0) == 0x40) found.rex = at[i++];
  if (i >= room) return kUnknown;

  enum class Constant : uint8_t { none, one, two, operand, full, address, distance, three };
  Constant constant = Constant::none;
  Byte op = at[i++];
  const auto in = [&op](Byte first, Byte last) { return op >= first && op <= last; };
  const auto of_two_bytes = [&] {
    found.has_mode = !(in(0x05, 0x09) || op == 0x0b || op == 0x0e || in(0x30, 0x37) || op == 0x77 || in(0x80, 0x8f) ||
                       in(0xa0, 0xa2) || in(0xa8, 0xaa) || in(0xc8, 0xcf));
    if (in(0x80, 0x8f)) constant = Constant::distance;
    if (op == 0x0f || in(0x70, 0x73) || op == 0xa4 || op == 0xac || op == 0xba || op == 0xc2 || in(0xc4, 0xc6)) {
      constant = Constant::one;
    }
    return !(op == 0x04 || op == 0x0a || op == 0x0c || in(0x24, 0x27) || op == 0x36 || in(0x39, 0x39) ||
             in(0x3b, 0x3f) || op == 0x78 || op == 0x79 || in(0xa6, 0xa7));
  };
  if (op == 0x0f) {
    if (i >= room) return kUnknown;
    op = at[i++];
    if (op == 0x38 || op == 0x3a) {
      if (op == 0x3a) constant = Constant::one;
      if (i >= room) return kUnknown;
      op = at[i++];
      found.map = Instruction::Map::other;
      found.has_mode = true;
    } else {
      found.map = Instruction::Map::two_bytes;
      if (!of_two_bytes()) return kUnknown;
    }
  } else if (op == 0xc4 || op == 0xc5 || op == 0x62 || (op == 0x8f && i < room && (at[i] & 0x1f) >= 8)) {
    const bool is_evex = op == 0x62;
    const bool is_xop = op == 0x8f;
    if (found.rex != 0 || i + 3 >= room) return kUnknown;
    const int which = op == 0xc5 ? 1 : at[i] & (is_evex ? 7 : 0x1f);
    i += is_evex ? 3 : op == 0xc5 ? 1 : 2;
    op = at[i++];
    found.is_vector = true;
    found.map = Instruction::Map::other;
    found.has_mode = true;
    if (is_xop) {
      if (which > 10) return kUnknown;
      constant = which == 8 ? Constant::one : which == 10 ? Constant::operand : Constant::none;
    } else if (which == 1) {
      if (!of_two_bytes()) return kUnknown;
      found.has_mode = op != 0x77;
      // What would be conditional jumps are instructions on masks.
      constant = in(0x70, 0x73) || op == 0xc2 || in(0xc4, 0xc6) ? Constant::one : Constant::none;
    } else if (which == 3) {
      constant = Constant::one;
    } else if (which == 0 || which == 4 || which > 6) {
      return kUnknown;
    }
  } else if (op < 0x40) {
    const int low = op & 7;
    if (low >= 6) return kUnknown;
    found.has_mode = low < 4;
    constant = low == 4 ? Constant::one : low == 5 ? Constant::operand : Constant::none;
  } else if (in(0x70, 0x7f)) {
    constant = Constant::one;
  } else if (in(0xb0, 0xb7)) {
    constant = Constant::one;
  } else if (in(0xb8, 0xbf)) {
    constant = Constant::full;
  } else if (in(0xd8, 0xdf) || in(0x84, 0x8f) || in(0xd0, 0xd3)) {
    found.has_mode = true;
  } else {
    switch (op) {
      case 0x60:
      case 0x61:
      case 0x82:
      case 0x9a:
      case 0xce:
      case 0xd4:
      case 0xd5:
      case 0xd6:
      case 0xea: return kUnknown;
      case 0x63:
      case 0xfe:
      case 0xff: found.has_mode = true; break;
      case 0x68:
      case 0xa9: constant = Constant::operand; break;
      case 0x6a:
      case 0xa8:
      case 0xcd:
      case 0xe0:
      case 0xe1:
      case 0xe2:
      case 0xe3:
      case 0xe4:
      case 0xe5:
      case 0xe6:
      case 0xe7:
      case 0xeb: constant = Constant::one; break;
      case 0x69:
      case 0x81:
      case 0xc7: found.has_mode = true, constant = Constant::operand; break;
      case 0x6b:
      case 0x80:
      case 0x83:
      case 0xc0:
      case 0xc1:
      case 0xc6: found.has_mode = true, constant = Constant::one; break;
      case 0xa0:
      case 0xa1:
      case 0xa2:
      case 0xa3: constant = Constant::address; break;
      case 0xc2:
      case 0xca: constant = Constant::two; break;
      case 0xc8: constant = Constant::three; break;
      case 0xe8:
      case 0xe9: constant = Constant::distance; break;
      case 0xf6:
      case 0xf7:
        found.has_mode = true;
        if (i >= room) return kUnknown;
        if ((at[i] >> 3 & 7) < 2) constant = op == 0xf6 ? Constant::one : Constant::operand;
        break;
      default: break;
    }
  }
  found.opcode = op;

  if (found.has_mode) {
    if (i >= room) return kUnknown;
    found.mode = at[i++];
    size_t displacement = 0;
    if (found.is_memory()) {
      if ((found.mode & 7) == 4) {
        if (i >= room) return kUnknown;
        found.has_index = true;
        found.index = at[i++];
      }
      const int mode = found.mode >> 6;
      displacement = mode == 1 ? 1 : mode == 2 || !found.has_base() ? 4 : 0;
    }
    if (displacement != 0) found.displacement_at = i;
    i += displacement;
  }
  const bool is_wide = (found.rex & 8) != 0;
  const size_t operand = found.is_short && !is_wide ? 2 : 4;
  switch (constant) {
    case Constant::none: break;
    case Constant::one: found.immediate_size = 1; break;
    case Constant::two: found.immediate_size = 2; break;
    case Constant::three: found.immediate_size = 3; break;
    case Constant::operand: found.immediate_size = operand; break;
    case Constant::full: found.immediate_size = is_wide ? 8 : operand; break;
    case Constant::address: found.immediate_size = found.other_addresses ? 4 : 8; break;
    case Constant::distance: found.immediate_size = 4; break;
  }
  if (found.immediate_size != 0) found.immediate_at = i;
  i += found.immediate_size;
  if (i > room) return kUnknown;
  found.length = i;
  return found;
}

}  // namespace weft::audit
