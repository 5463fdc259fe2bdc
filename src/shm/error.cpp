// SPDX-License-Identifier: Apache-2.0
#include "shm/error.h"

#include <cstdarg>
#include <cstdio>

#include "base/keep_errno.h"
#include "shm/public.h"
#include "weft/shm.h"

namespace weft::shm {

namespace {

// Room for a path and what there is to say of it.
thread_local char t_text[512];
thread_local const char* t_said = "";

}  // namespace

int fail(int code, const char* format, ...) noexcept {
  const base::KeepErrno keep;
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(t_text, sizeof t_text, format, arguments);
  va_end(arguments);
  t_said = t_text;
  return code;
}

int answer(int code, const char* text) noexcept {
  t_said = text;
  return code;
}

}  // namespace weft::shm

WEFT_PUBLIC const char* weft_shm_error(void) { return weft::shm::t_said; }
