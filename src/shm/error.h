// SPDX-License-Identifier: Apache-2.0
// What weft_shm_error() says of the calling thread.
#pragma once

namespace weft::shm {

// Keeps the text for the thread, cut where it is too long, and returns `code`.
[[gnu::format(printf, 2, 3)]] int fail(int code, const char* format, ...) noexcept;

// The same for a text that stays where it is, and costs next to nothing: for what is found often, such as a missing
// key.
int answer(int code, const char* text) noexcept;

}  // namespace weft::shm
