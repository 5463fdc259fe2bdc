// SPDX-License-Identifier: Apache-2.0
// The text that weft_shm_error() returns to the calling thread.
#pragma once

namespace weft::shm {

// Keeps the text for the thread, cut where it is too long, and returns `code`.
[[gnu::format(printf, 2, 3)]] int fail(int code, const char* format, ...) noexcept;

// The same for a text that stays valid; it costs next to nothing. For results that are frequent, such as a missing key.
int answer(int code, const char* text) noexcept;

}  // namespace weft::shm
