// SPDX-License-Identifier: Apache-2.0
// What weft says to the user: one line each on stderr, written at once so that lines of several threads and
// processes stay whole.
#pragma once

namespace weft::base {

// Something the user gave cannot be used; the message names it and what is used instead. Keeps errno.
[[gnu::format(printf, 1, 2)]] void warn(const char* format, ...) noexcept;

// The program cannot go on. The message names why and the way out; then the process aborts.
[[noreturn, gnu::format(printf, 1, 2)]] void fatal(const char* format, ...) noexcept;

// The system does not give what the program needs to go on. The message names what, and the way out; then the process
// ends with status 1, as under other runtimes.
[[noreturn, gnu::format(printf, 1, 2)]] void lacking(const char* format, ...) noexcept;

}  // namespace weft::base
