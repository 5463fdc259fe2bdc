// SPDX-License-Identifier: Apache-2.0
// Atomic operations on values of any type, for the atomic constructs that compilers do not write as instructions.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "openmp/lock/lock.h"

namespace weft::openmp::atomic {

// The type as which a value of that many bytes is exchanged; void: there is no instruction for it.
template <size_t Size>
struct WordOf {
  using Type = void;
};
template <>
struct WordOf<1> {
  using Type = uint8_t;
};
template <>
struct WordOf<2> {
  using Type = uint16_t;
};
template <>
struct WordOf<4> {
  using Type = uint32_t;
};
template <>
struct WordOf<8> {
  using Type = uint64_t;
};

// Where there is no instruction for it, the location's address picks one of some locks. All operations on a location
// pick the same one, since its size and alignment are the same for all.
inline LockWord& lock_of(const void* at) noexcept {
  struct alignas(64) Line {
    LockWord word{0};
  };
  static std::array<Line, 64> lines;
  return lines[reinterpret_cast<uintptr_t>(at) / 16 % lines.size()].word;
}

// The word at `at`, which the program declares as something else; null where it is not aligned, as Fortran's common
// blocks and pairs of floats may not be.
template <class Word>
auto word_at(void* at) noexcept {
  using Any [[gnu::may_alias]] = Word;
  return reinterpret_cast<uintptr_t>(at) % sizeof(Word) == 0 ? static_cast<Any*>(at) : nullptr;
}

template <class Result, class From>
Result bits_as(const From& from) noexcept {
  static_assert(sizeof(Result) == sizeof(From));
  Result result;
  std::memcpy(&result, &from, sizeof result);
  return result;
}

template <class Value>
struct Change {
  Value before;
  Value after;
};

// Replaces the value by operation(value). The operation may be called more than once.
template <class Value, class Operation>
Change<Value> change(Value* at, Operation&& operation) noexcept {
  using Word = typename WordOf<sizeof(Value)>::Type;
  if constexpr (!std::is_void_v<Word>) {
    if (auto* word = word_at<Word>(at)) {
      // Relaxed: the exchange, which is sequentially consistent, succeeds only if it is still so.
      Word seen = __atomic_load_n(word, __ATOMIC_RELAXED);
      for (;;) {
        const auto before = bits_as<Value>(seen);
        const Value after = operation(before);
        if (__atomic_compare_exchange_n(word, &seen, bits_as<Word>(after), true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
          return {before, after};
        }
      }
    }
  }
  LockWord& word = lock_of(at);
  lock_shortly(word);
  const Value before = *at;
  const Value after = operation(before);
  *at = after;
  unlock(word);
  return {before, after};
}

template <class Value>
Value read(Value* at) noexcept {
  using Word = typename WordOf<sizeof(Value)>::Type;
  if constexpr (!std::is_void_v<Word>) {
    if (auto* word = word_at<Word>(at)) return bits_as<Value>(__atomic_load_n(word, __ATOMIC_SEQ_CST));
  }
  LockWord& word = lock_of(at);
  lock_shortly(word);
  const Value value = *at;
  unlock(word);
  return value;
}

// ---- operations: of the value x in memory and the operand y ----

// Integers of either side are unsigned 64-bit ones where overflow wraps.
#define WEFT_OPERATION(name, wraps, expression) \
  struct name {                                 \
    static constexpr bool kWraps = wraps;       \
    template <class X, class Y>                 \
    static auto of(X x, Y y) noexcept {         \
      return expression;                        \
    }                                           \
  }
WEFT_OPERATION(Add, true, x + y);
WEFT_OPERATION(Sub, true, x - y);
WEFT_OPERATION(Mul, true, x* y);
WEFT_OPERATION(Div, false, x / y);
WEFT_OPERATION(AndBits, true, x& y);
WEFT_OPERATION(OrBits, true, x | y);
WEFT_OPERATION(XorBits, true, x ^ y);
WEFT_OPERATION(Equivalent, true, x ^ ~y);
WEFT_OPERATION(AndLogical, false, x != 0 && y != 0);
WEFT_OPERATION(OrLogical, false, x != 0 || y != 0);
WEFT_OPERATION(ShiftLeft, true, x << y);
WEFT_OPERATION(ShiftRight, false, x >> y);
WEFT_OPERATION(Least, false, y < x ? y : x);
WEFT_OPERATION(Greatest, false, x < y ? y : x);
#undef WEFT_OPERATION

template <class Operation>
struct Reversed {
  static constexpr bool kWraps = Operation::kWraps;
  template <class X>
  static auto of(X x, X y) noexcept {
    return Operation::of(y, x);
  }
};

template <class Operation, class Value, class Operand>
Change<Value> update(Value* at, Operand operand) noexcept {
  return change(at, [operand](Value value) {
    if constexpr (Operation::kWraps && std::is_integral_v<Operand>) {
      return static_cast<Value>(Operation::of(static_cast<uint64_t>(value), static_cast<uint64_t>(operand)));
    } else {
      return static_cast<Value>(Operation::of(value, operand));
    }
  });
}

template <class Value>
Value exchange(Value* at, Value value) noexcept {
  return change(at, [value](Value) { return value; }).before;
}

// True if the value was `expected`, and is `desired` now. *seen: what it was.
template <class Value>
bool compare_and_swap(Value* at, Value expected, Value desired, Value* seen) noexcept {
  *seen = change(at, [=](Value value) { return value == expected ? desired : value; }).before;
  return *seen == expected;
}

}  // namespace weft::openmp::atomic
