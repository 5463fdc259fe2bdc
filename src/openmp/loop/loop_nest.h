// SPDX-License-Identifier: Apache-2.0
// Nests of loops that are collapsed into one sequence of iterations (OpenMP 5.2, section 4.4.3), those too where a
// bound depends on an outer loop's variable.
#pragma once

#include <cstdint>

namespace weft::openmp {

// One loop of a nest: from lower + lower_by * v to upper + upper_by * v, where v is the variable of the loop `outer`.
// Numbers stand in 64 bits, extended from their type. The layout and the values are those of LLVM's ABI
// (kmp_collapse.h: bounds_info_t, comparison_t, loop_type_t), so that its programs' records are used as they are.
struct NestedLoop {
  enum Type : int32_t { kUint8, kInt8, kUint16, kInt16, kUint32, kInt32, kUint64, kInt64 };
  enum Comparison : int32_t { kLessOrEqual, kGreaterOrEqual, kNotEqual, kLess, kGreater };

  Type type;
  Type variable_type;
  Comparison comparison;
  int32_t outer;
  uint64_t lower;
  uint64_t lower_by;
  uint64_t upper;
  uint64_t upper_by;
  int64_t step;
  uint64_t count;

  // Makes the bounds inclusive. The other functions want them so.
  void canonicalize() noexcept;
  bool is_up() const noexcept { return comparison == kLessOrEqual; }

  // The first value, and how many there are, where the outer loops stand at `variables`.
  uint64_t first(const uint64_t* variables) const noexcept;
  uint64_t trips(const uint64_t* variables) const noexcept;
  // Value number `index`, from 0.
  uint64_t value(uint64_t from, uint64_t index) const noexcept;
};

// Loops with inclusive bounds, the outermost one first.
class LoopNest {
 public:
  static constexpr int kDeepest = 64;

  LoopNest(const NestedLoop* loops, int depth) noexcept : loops_(loops), depth_(depth) {}

  // Iterations of the whole nest.
  uint64_t count() const noexcept;
  // The loops' variables in iteration `index` of all.
  void find(uint64_t index, uint64_t* variables) const noexcept;

 private:
  uint64_t count_inside(int level, uint64_t* variables) const noexcept;
  bool shapes_inner_loop(int level) const noexcept;

  const NestedLoop* loops_;
  int depth_;
};

}  // namespace weft::openmp
