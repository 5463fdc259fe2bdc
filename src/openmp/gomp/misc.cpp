// SPDX-License-Identifier: Apache-2.0
// GOMP: the error directive, and what programs built for offloading tell at their start.
#include <cstdlib>

#include "base/message.h"
#include "openmp/gomp/gomp.h"

using namespace weft;

namespace {

int shown(size_t length) noexcept {
  constexpr size_t kMost = 1000;
  return static_cast<int>(length < kMost ? length : kMost);
}

}  // namespace

WEFT_ABI void weft_abi_GOMP_warning(const char* message, size_t length) {
  const openmp::ompt::Entry entry(WEFT_CALLER);
  if (openmp::ompt::on()) openmp::ompt::error(false, message, message != nullptr ? length : 0);
  if (message == nullptr) return base::warn("warning directive encountered");
  base::warn("warning directive encountered: %.*s", shown(length), message);
}
WEFT_ABI_EXPORT(GOMP_warning);

WEFT_ABI [[noreturn]] void weft_abi_GOMP_error(const char* message, size_t length) {
  const openmp::ompt::Entry entry(WEFT_CALLER);
  if (openmp::ompt::on()) openmp::ompt::error(true, message, message != nullptr ? length : 0);
  if (message == nullptr) {
    base::warn("error directive encountered");
  } else {
    base::warn("error directive encountered: %.*s", shown(length), message);
  }
  std::exit(EXIT_FAILURE);
}
WEFT_ABI_EXPORT(GOMP_error);

// There is no device but the host: nothing is done with the images.
WEFT_ABI void weft_abi_GOMP_offload_register(const void*, int, const void*) {}
WEFT_ABI_EXPORT(GOMP_offload_register);

WEFT_ABI void weft_abi_GOMP_offload_register_ver(unsigned, const void*, int, const void*) {}
WEFT_ABI_EXPORT(GOMP_offload_register_ver);

WEFT_ABI void weft_abi_GOMP_offload_unregister(const void*, int, const void*) {}
WEFT_ABI_EXPORT(GOMP_offload_unregister);

WEFT_ABI void weft_abi_GOMP_offload_unregister_ver(unsigned, const void*, int, const void*) {}
WEFT_ABI_EXPORT(GOMP_offload_unregister_ver);
