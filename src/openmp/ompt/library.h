// SPDX-License-Identifier: Apache-2.0
// Calls of libraries whose jobs the pool runs, for tools (weft_set_library_callback).
#pragma once

#include <cstdint>

#include "openmp/tool/tool.h"
#include "weft/weft-tools.h"

namespace weft::openmp::ompt {

void tell_library(weft_library_t what, bool begins, const void* caller, int jobs, uint64_t* data) noexcept;

// For as long as the caller, or a context that helps it, is in the call. `data` is that of the call; it must stay until
// all have left.
class InLibrary {
 public:
  // The call: empties `data`.
  InLibrary(const void* caller, int jobs, uint64_t* data) noexcept
      : what_(weft_library_call), caller_(caller), jobs_(jobs) {
    *data = 0;
    if (tool::is_on()) begin(data);
  }
  // A context that helps.
  explicit InLibrary(uint64_t* data) noexcept : what_(weft_library_help) {
    if (*data != 0 && tool::is_present()) begin(data);
  }
  ~InLibrary() {
    if (data_ != nullptr) tell_library(what_, false, caller_, jobs_, data_);
  }
  InLibrary(const InLibrary&) = delete;
  InLibrary& operator=(const InLibrary&) = delete;

 private:
  void begin(uint64_t* data) noexcept {
    data_ = data;
    tell_library(what_, true, caller_, jobs_, data);
  }

  const weft_library_t what_;
  const void* const caller_ = nullptr;
  const int jobs_ = 0;
  uint64_t* data_ = nullptr;
};

}  // namespace weft::openmp::ompt
