// SPDX-License-Identifier: Apache-2.0
// What the C++ headers of libweft-shm have in common: errors are exceptions. C++17.
#ifndef WEFT_SHM_HPP
#define WEFT_SHM_HPP

#if __cplusplus < 201703L
#error "weft's headers for C++ need C++17: compile with -std=c++17 or later"
#endif

#include <system_error>

#include "shm.h"

namespace weft {

// A call of libweft-shm has failed: code() has its errno value, what() says which input, why, and the way out.
class ShmError : public std::system_error {
 public:
  explicit ShmError(int error) : std::system_error(error, std::generic_category(), weft_shm_error()) {}
};

// Throws unless `error` is 0.
inline void check_shm(int error) {
  if (error != 0) throw ShmError(error);
}

}  // namespace weft

#endif
