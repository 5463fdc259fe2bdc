// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace weft::observe {

struct CodeRange {
  const char* begin = nullptr;
  const char* end = nullptr;

  bool has(const void* address) const noexcept { return address >= begin && address < end; }
};

// The loaded segment in which `address` is; empty where none is.
CodeRange code_around(const void* address) noexcept;

}  // namespace weft::observe
