// SPDX-License-Identifier: Apache-2.0
// The settings of a process, read once from its environment and from what its program brings. The only reader of the
// environment.
#pragma once

#include <cstdint>

namespace weft::base {

// One number per nesting level; count 0: unset.
struct ThreadList {
  static constexpr int kMost = 16;
  int values[kMost] = {};
  int count = 0;
};

struct LoopSchedule {
  enum class Kind : uint8_t { static_, dynamic, guided, auto_ };
  Kind kind = Kind::dynamic;
  bool monotonic = false;
  int chunk = 1;  // 0: unset, for static one block per member
};

struct StackSize {
  long bytes = 0;  // 0: unset
};

// Policies for the placement of threads (OpenMP 5.2, section 10.1.3); the numbers are those of omp_proc_bind_t.
enum class ProcBind : uint8_t { false_, true_, primary, close, spread };

// One per nesting level; count 0: unset. false and true stand alone.
struct BindList {
  static constexpr int kMost = 16;
  ProcBind values[kMost] = {};
  int count = 0;
};

// Threads of the limit that are for regions, and for free agents; kAll: of the first kind all, of the second all but
// one.
struct ThreadsReserve {
  static constexpr int kAll = -1;
  int structured = 1;
  int free_agent = 0;
};

// Kept as it stands; null when unset.
struct Text {
  const char* value = nullptr;
};

enum class TriState : uint8_t { unset, no, yes };
enum class WaitPolicy : uint8_t { unset, active, passive };
enum class TargetOffload : uint8_t { unset, mandatory, disabled };
// What is said at the program's end: nothing, what users ask first, or all counters too.
enum class Stats : uint8_t { off, summary, all };
enum class DisplayEnv : uint8_t { no, yes, verbose };
enum class ToolUse : uint8_t { enabled, disabled };
// How the parallel parts of a process share its CPUs (docs/explanation/process.md).
enum class Mode : uint8_t { dynamic, static_, exclusive, counting };
// The same by libiomp5's words; unset: as WEFT_MODE says.
struct Composability {
  bool set = false;
  Mode mode = Mode::dynamic;
};

// How a region that is one loop is divided among its members (docs/explanation/weftcc.md).
enum class Balance : uint8_t { auto_, static_, affinity, steal, central };
// What a member takes of such a loop at once, at least: iterations, or work. Both 0: unset.
struct Grain {
  int64_t iterations = 0;
  int64_t ns = 0;
};
// Where threads are bound, or where memory is placed, by NUMA nodes; none: this variable does neither. `weft run`
// places memory: when the runtime begins, the program has memory already.
enum class Numa : uint8_t { none, compact, spread, local, interleave, bind, preferred_many, preferred };
constexpr bool places_memory(Numa numa) noexcept { return numa >= Numa::interleave; }

struct Options {
#define WEFT_OPTION(field, variable, type, value, least, most, help) type field = value;
#include "base/options.def"
#undef WEFT_OPTION
};

// As it is written.
const char* name_of(Stats stats) noexcept;
const char* name_of(Mode mode) noexcept;
const char* name_of(Balance balance) noexcept;
const char* name_of(Numa numa) noexcept;

// How many characters of a wrong value a warning shows.
inline constexpr int kShownOfValue = 60;

// The settings of this process. Reads the environment at the first call, and warns about what it cannot use.
// Thread-safe; may be called before main.
const Options& options() noexcept;

// The settings that `environment` (as in environ) stands for; warns likewise. `defaults` is what a program brings with
// it (program_defaults.h), or null; the environment overrides it.
Options parse(const char* const* environment, const char* defaults = nullptr) noexcept;

// Whether `text` is a value of the variable.
enum class Verdict : uint8_t { no_such_variable, bad_value, good };
Verdict judge(const char* variable, const char* text) noexcept;

// What a variable accepts, for messages. No words: a whole number from `least` to `most`.
struct Accepted {
  const char* words;
  long long least;
  long long most;
};
// The variable is one of the table's.
Accepted accepted_values(const char* variable) noexcept;

// For lists of all settings.
struct OptionRow {
  const char* variable;
  const char* help;
  // What the environment says, or null: the default holds.
  const char* text;
};
inline constexpr int kOptionCount = 0
#define WEFT_OPTION(field, variable, type, value, least, most, help) +1
#include "base/options.def"
#undef WEFT_OPTION
    ;

// The rows of the table in its order; `index` < kOptionCount.
OptionRow option_row(int index) noexcept;

}  // namespace weft::base
