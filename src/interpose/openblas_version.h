// SPDX-License-Identifier: Apache-2.0
// The version of a copy of OpenBLAS, found before any of its code runs. The function that tells its configuration
// begins with the text "OpenBLAS 0.3.31 ...", which that function's code refers to. Needs nothing of libc, so that the
// audit library may use it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "platform/segments.h"

namespace weft::interpose {

class OpenBlasVersion {
 public:
  OpenBlasVersion() = default;
  // `text`: "0.3.31 ...", with something that is no digit behind it.
  explicit OpenBlasVersion(const char* text) noexcept : text_(text) {
    for (int& number : numbers_) {
      for (; is_digit(*text); ++text) number = 10 * number + (*text - '0');
      if (*text == '.') ++text;
    }
  }

  // As it stands in the library, behind its name; null: the version is not known.
  const char* text() const noexcept { return text_; }
  size_t length() const noexcept {
    size_t length = 0;
    while (text_ != nullptr && (is_digit(text_[length]) || (length > 0 && is_inner(text_[length])))) ++length;
    return length;
  }

  // Only layouts that somebody has seen are known. One that names no version is none of these.
  bool is_too_old() const noexcept { return text_ != nullptr && number() < kFirst; }
  bool is_too_new() const noexcept { return text_ != nullptr && number() > kLast; }

  static bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

 private:
  static constexpr long kFirst = 3'029;  // 0.3.29
  static constexpr long kLast = 3'034;
  static bool is_inner(char c) noexcept { return c == '.' || c == 'd' || c == 'e' || c == 'v'; }
  long number() const noexcept { return 1'000'000L * numbers_[0] + 1'000L * numbers_[1] + numbers_[2]; }

  const char* text_ = nullptr;
  int numbers_[3]{};
};

// Behind the library's name, if that and a version stand at `at`; null: something else does.
inline const char* version_at(const char* at, const platform::Segments& segments) noexcept {
  constexpr char kName[] = "OpenBLAS ";
  constexpr size_t kLength = sizeof kName - 1;
  constexpr size_t kVersion = 16;
  if (segments.of(at, kLength + kVersion).protection == PROT_NONE) return nullptr;
  for (size_t i = 0; i < kLength; ++i) {
    if (at[i] != kName[i]) return nullptr;
  }
  return OpenBlasVersion::is_digit(at[kLength]) ? at + kLength : nullptr;
}

// That of the copy whose configuration the function tells. Builds that keep the text elsewhere have none.
inline OpenBlasVersion version_of(const void* get_configuration, size_t size,
                                  const platform::Segments& segments) noexcept {
  constexpr size_t kLook = 256;
  const auto* code = static_cast<const char*>(get_configuration);
  if (size > kLook) size = kLook;
  if (segments.of(code, size).protection == PROT_NONE) return {};
#if defined(__x86_64__)
  // A distance from the end of the instruction, which ends with it.
  for (const char* at = code; at + 4 <= code + size; ++at) {
    int32_t distance;
    __builtin_memcpy(&distance, at, 4);
    const auto target = reinterpret_cast<uintptr_t>(at + 4) + static_cast<uintptr_t>(intptr_t{distance});
    if (const char* text = version_at(reinterpret_cast<const char*>(target), segments)) return OpenBlasVersion(text);
  }
#elif defined(__aarch64__)
  // adrp: a page, in which the text begins.
  constexpr uintptr_t kPage = 4096;
  for (const char* at = code; at + 4 <= code + size; at += 4) {
    uint32_t instruction;
    __builtin_memcpy(&instruction, at, 4);
    if ((instruction & 0x9f000000) != 0x90000000) continue;
    const uint32_t distance = (instruction >> 5 & 0x7ffff) << 2 | (instruction >> 29 & 3);
    const auto pages = static_cast<intptr_t>(static_cast<int32_t>(distance << 11) >> 11);
    const uintptr_t page = (reinterpret_cast<uintptr_t>(at) & ~(kPage - 1)) + static_cast<uintptr_t>(pages) * kPage;
    for (uintptr_t target = page; target < page + kPage; ++target) {
      if (const char* text = version_at(reinterpret_cast<const char*>(target), segments)) return OpenBlasVersion(text);
    }
  }
#endif
  return {};
}

}  // namespace weft::interpose
