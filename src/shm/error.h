// SPDX-License-Identifier: Apache-2.0
// What weft_shm_error() says of the calling thread.
#pragma once

namespace weft::shm {

// Keeps the text for the thread, cut where it is too long, and returns `code`.
[[gnu::format(printf, 2, 3)]] int fail(int code, const char* format, ...) noexcept;

}  // namespace weft::shm
