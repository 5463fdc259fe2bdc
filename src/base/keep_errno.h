// SPDX-License-Identifier: Apache-2.0
// A parallel region or a lock is no call of the C library to the program: errno stays what it was.
#pragma once

#include <cerrno>

namespace weft::base {

class KeepErrno {
 public:
  KeepErrno() noexcept : value_(errno) {}
  ~KeepErrno() { errno = value_; }
  KeepErrno(const KeepErrno&) = delete;
  KeepErrno& operator=(const KeepErrno&) = delete;

 private:
  const int value_;
};

}  // namespace weft::base
