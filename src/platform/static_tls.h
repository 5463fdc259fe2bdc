// SPDX-License-Identifier: Apache-2.0
// The room that the dynamic linker keeps for thread-local data that is reached without a call (static TLS), as far as
// GLIBC_TUNABLES says how much it is. Where libraries are audited, those that a program is linked with take their part
// of it too, where they would have had room of their own. Needs nothing of libc but strings.
#pragma once

#include <cstddef>
#include <cstring>

namespace weft::platform {

inline constexpr char kTunables[] = "GLIBC_TUNABLES";
inline constexpr char kStaticTls[] = "glibc.rtld.optional_static_tls";
// Without the tunable.
inline constexpr unsigned long kUsualStaticTls = 512;
// What most programs need beside that for what they are linked with. Each thread's stack pays for it: with four times
// as much, threads with the smallest stacks could not be made.
inline constexpr unsigned long kLinkedStaticTls = 3584;

// Calls visit(setting, length) for each NAME=VALUE.
template <class Visit>
void for_each_tunable(const char* tunables, Visit&& visit) noexcept {
  while (*tunables != '\0') {
    size_t length = 0;
    while (tunables[length] != '\0' && tunables[length] != ':') ++length;
    if (length > 0) visit(tunables, length);
    tunables += length + (tunables[length] == ':' ? 1 : 0);
  }
}

inline bool is_static_tls(const char* setting, size_t length) noexcept {
  constexpr size_t kName = sizeof kStaticTls - 1;
  return length > kName && std::strncmp(setting, kStaticTls, kName) == 0 && setting[kName] == '=';
}

// A number as the dynamic linker reads it: decimal, 0x or 0 before octal.
inline unsigned long tunable_number(const char* text, size_t length) noexcept {
  unsigned long base = 10;
  size_t i = 0;
  if (length > 1 && text[0] == '0') {
    const bool hexadecimal = text[1] == 'x' || text[1] == 'X';
    base = hexadecimal ? 16 : 8;
    i = hexadecimal ? 2 : 1;
  }
  unsigned long number = 0;
  for (; i < length; ++i) {
    const char low = static_cast<char>(text[i] | 0x20);
    const unsigned long digit = text[i] >= '0' && text[i] <= '9' ? static_cast<unsigned long>(text[i] - '0')
                                : low >= 'a' && low <= 'f'       ? static_cast<unsigned long>(low - 'a' + 10)
                                                                 : base;
    if (digit >= base) break;
    number = number * base + digit;
  }
  return number;
}

// The bytes that `tunables` ask for; null: the variable is not set. The last setting counts.
inline unsigned long static_tls(const char* tunables) noexcept {
  unsigned long bytes = kUsualStaticTls;
  for_each_tunable(tunables != nullptr ? tunables : "", [&bytes](const char* setting, size_t length) {
    constexpr size_t kValue = sizeof kStaticTls;
    if (is_static_tls(setting, length)) bytes = tunable_number(setting + kValue, length - kValue);
  });
  return bytes;
}

// What with_static_tls may need: what is there, and the setting.
inline size_t room_for_static_tls(const char* tunables) noexcept {
  constexpr size_t kNumber = 24;
  return (tunables != nullptr ? std::strlen(tunables) : 0) + sizeof kStaticTls + kNumber;
}

// Writes `tunables` with that many bytes in place of what they ask for; the other settings stay.
inline void with_static_tls(const char* tunables, unsigned long bytes, char* out) noexcept {
  for_each_tunable(tunables != nullptr ? tunables : "", [&out](const char* setting, size_t length) {
    if (is_static_tls(setting, length)) return;
    std::memcpy(out, setting, length);
    out[length] = ':';
    out += length + 1;
  });
  std::memcpy(out, kStaticTls, sizeof kStaticTls - 1);
  out += sizeof kStaticTls - 1;
  *out++ = '=';
  char digits[24];
  int count = 0;
  for (; bytes > 0 || count == 0; bytes /= 10) digits[count++] = static_cast<char>('0' + bytes % 10);
  while (count > 0) *out++ = digits[--count];
  *out = '\0';
}

// ---- for one program alone ----

// A program that is started again with more room (audit/room.h) is to have it alone: what it starts decides for itself,
// and each of its threads' stacks would pay. So the setting stands behind the others, which stay as they are, and is
// known by its form: 0x and so many digits.
inline constexpr size_t kOwnDigits = 16;
inline constexpr size_t kOwnSetting = sizeof kStaticTls + 2 + kOwnDigits;  // NAME=0x...

// How many characters of `tunables` are everybody's: all but such a setting at their end.
inline size_t without_own_static_tls(const char* tunables) noexcept {
  const size_t length = std::strlen(tunables);
  if (length < kOwnSetting) return length;
  const size_t others = length - kOwnSetting;
  const char* setting = tunables + others;
  const char* value = setting + sizeof kStaticTls;
  const bool is_own = is_static_tls(setting, kOwnSetting) && value[0] == '0' && value[1] == 'x';
  if (!is_own || (others > 0 && setting[-1] != ':')) return length;
  return others > 0 ? others - 1 : 0;
}

// Writes `tunables`, of which `length` characters are everybody's, with a setting of the program's own.
inline void with_own_static_tls(const char* tunables, size_t length, unsigned long bytes, char* out) noexcept {
  std::memcpy(out, tunables, length);
  out += length;
  if (length > 0) *out++ = ':';
  std::memcpy(out, kStaticTls, sizeof kStaticTls - 1);
  out += sizeof kStaticTls - 1;
  std::memcpy(out, "=0x", 3);
  out += 3;
  constexpr unsigned kBitsOfDigit = 4;
  for (size_t i = kOwnDigits; i-- > 0;) *out++ = "0123456789abcdef"[bytes >> (kBitsOfDigit * i) & 0xf];
  *out = '\0';
}

}  // namespace weft::platform
