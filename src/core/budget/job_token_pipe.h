// SPDX-License-Identifier: Apache-2.0
// The pipe of a jobserver, and the tokens that this process has taken out of it. A token is a byte. Whoever takes one
// writes the same byte back. Nothing here waits, allocates or touches errno. Internal to core.
#pragma once

#include <array>
#include <cstddef>

#include <sys/types.h>

#include "core/budget/makeflags.h"
#include "core/sched/settings.h"

namespace weft::core {

class JobTokenPipe {
 public:
  // Opens the pipe by a descriptor of its own: whether a read waits is a setting of the open file, which make shares
  // with its jobs. False: there is no such pipe, or what is there cannot be make's.
  bool open(const JobserverPlace& place) noexcept;
  void close() noexcept;
  bool is_open() const noexcept { return descriptor_ >= 0; }
  // A program may close all descriptors that it does not know. Whether this one is there; opens it anew where it is
  // not.
  bool is_there_again() noexcept;

  // Takes up to `most` tokens of those that are there. Returns how many.
  int take(int most) noexcept;
  // Writes back up to `most` tokens. Returns how many.
  int give_back(int most) noexcept;
  int count() const noexcept { return count_; }
  // In the child of a fork: the tokens are the parent's.
  void forget() noexcept { count_ = 0; }

 private:
  // Whether the descriptor is still what it was: a program may close all that it does not know.
  bool is_mine() const noexcept;

  int descriptor_ = -1;
  std::array<char, 256> path_{};  // by which it can be opened anew; empty: it is too long
  dev_t device_ = 0;
  ino_t inode_ = 0;
  int count_ = 0;
  std::array<char, kMaxWorkers> tokens_{};
};

}  // namespace weft::core
