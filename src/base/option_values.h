// SPDX-License-Identifier: Apache-2.0
// How the values of the variables are read, by type.
#pragma once

#include "base/options.h"
#include "base/scanner.h"

namespace weft::base {

struct NumberRange {
  long long least;
  long long most;
};

// False if what stands there is no value of the type, or a number out of range. Then `*value` is undefined.
bool read(Scanner& in, const NumberRange& range, bool* value) noexcept;
bool read(Scanner& in, const NumberRange& range, int* value) noexcept;
bool read(Scanner& in, const NumberRange& range, ThreadList* list) noexcept;
bool read(Scanner& in, const NumberRange& range, LoopSchedule* schedule) noexcept;
bool read(Scanner& in, const NumberRange& range, StackSize* size) noexcept;
bool read(Scanner& in, const NumberRange& range, TriState* state) noexcept;
bool read(Scanner& in, const NumberRange& range, WaitPolicy* policy) noexcept;
bool read(Scanner& in, const NumberRange& range, TargetOffload* offload) noexcept;
bool read(Scanner& in, const NumberRange& range, Stats* stats) noexcept;
bool read(Scanner& in, const NumberRange& range, DisplayEnv* display) noexcept;
bool read(Scanner& in, const NumberRange& range, BindList* list) noexcept;
bool read(Scanner& in, const NumberRange& range, ThreadsReserve* reserve) noexcept;
bool read(Scanner& in, const NumberRange& range, ToolUse* use) noexcept;
bool read(Scanner& in, const NumberRange& range, Mode* mode) noexcept;
bool read(Scanner& in, const NumberRange& range, Composability* composability) noexcept;
bool read(Scanner& in, const NumberRange& range, Balance* balance) noexcept;
bool read(Scanner& in, const NumberRange& range, Grain* grain) noexcept;
bool read(Scanner& in, const NumberRange& range, Numa* numa) noexcept;

// What is accepted, for warnings.
const char* accepted(const bool*) noexcept;
const char* accepted(const TriState*) noexcept;
const char* accepted(const ThreadList*) noexcept;
const char* accepted(const LoopSchedule*) noexcept;
const char* accepted(const StackSize*) noexcept;
const char* accepted(const WaitPolicy*) noexcept;
const char* accepted(const TargetOffload*) noexcept;
const char* accepted(const BindList*) noexcept;
const char* accepted(const Stats*) noexcept;
const char* accepted(const DisplayEnv*) noexcept;
const char* accepted(const ThreadsReserve*) noexcept;
const char* accepted(const ToolUse*) noexcept;
const char* accepted(const Mode*) noexcept;
const char* accepted(const Composability*) noexcept;
const char* accepted(const Balance*) noexcept;
const char* accepted(const Grain*) noexcept;
const char* accepted(const Numa*) noexcept;

}  // namespace weft::base
