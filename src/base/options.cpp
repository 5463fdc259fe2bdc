// SPDX-License-Identifier: Apache-2.0
#include "base/options.h"

#include <sys/auxv.h>
#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/message.h"
#include "base/scanner.h"

namespace weft::base {

namespace {

struct Row {
  const char* variable;
  const char* help;
  long long least;
  long long most;
};

constexpr Row kRows[] = {
#define WEFT_OPTION(field, variable, type, value, least, most, help) {#variable, help, least, most},
#include "base/options.def"
#undef WEFT_OPTION
};

bool read_bool(Scanner& in, bool* value) noexcept {
  if (in.word("true") || in.word("yes") || in.word("on") || in.word("1")) return *value = true;
  *value = false;
  return in.word("false") || in.word("no") || in.word("off") || in.word("0");
}

bool read(Scanner& in, const Row&, bool* value) noexcept { return read_bool(in, value); }

bool read(Scanner& in, const Row& row, int* value) noexcept {
  long long number = 0;
  if (!in.number(row.least, row.most, &number)) return false;
  *value = static_cast<int>(number);
  return true;
}

bool read(Scanner& in, const Row& row, ThreadList* list) noexcept {
  do {
    long long number = 0;
    if (list->count == ThreadList::kMost || !in.number(row.least, row.most, &number)) return false;
    list->values[list->count++] = static_cast<int>(number);
  } while (in.take(','));
  return true;
}

bool read(Scanner& in, const Row&, LoopSchedule* schedule) noexcept {
  using Kind = LoopSchedule::Kind;
  const bool monotonic = in.word("monotonic");
  if ((monotonic || in.word("nonmonotonic")) && !in.take(':')) return false;
  schedule->monotonic = monotonic;
  if (in.word("static")) {
    schedule->kind = Kind::static_;
    schedule->chunk = 0;
  } else if (in.word("dynamic")) {
    schedule->kind = Kind::dynamic;
  } else if (in.word("guided")) {
    schedule->kind = Kind::guided;
  } else if (in.word("auto")) {
    schedule->kind = Kind::auto_;
  } else {
    return false;
  }
  if (!in.take(',')) return true;
  long long chunk = 0;
  if (!in.number(1, INT32_MAX, &chunk)) return false;
  schedule->chunk = static_cast<int>(chunk);
  return true;
}

bool read(Scanner& in, const Row& row, StackSize* size) noexcept {
  long long number = 0;
  if (!in.number(0, row.most, &number)) return false;
  int shift = 10;
  if (in.word("b")) {
    shift = 0;
  } else if (in.word("m")) {
    shift = 20;
  } else if (in.word("g")) {
    shift = 30;
  } else {
    static_cast<void>(in.word("k"));
  }
  if (number > row.most >> shift || number << shift < row.least) return false;
  size->bytes = static_cast<long>(number << shift);
  return true;
}

bool read(Scanner& in, const Row&, TriState* state) noexcept {
  bool value = false;
  if (!read_bool(in, &value)) return false;
  *state = value ? TriState::yes : TriState::no;
  return true;
}

bool read(Scanner& in, const Row&, WaitPolicy* policy) noexcept {
  if (in.word("active")) {
    *policy = WaitPolicy::active;
    return true;
  }
  *policy = WaitPolicy::passive;
  return in.word("passive");
}

bool read(Scanner& in, const Row&, TargetOffload* offload) noexcept {
  if (in.word("default")) {
    *offload = TargetOffload::unset;
    return true;
  }
  *offload = TargetOffload::disabled;
  if (in.word("disabled")) return true;
  *offload = TargetOffload::mandatory;
  return in.word("mandatory");
}

bool read(Scanner& in, const Row&, DisplayEnv* display) noexcept {
  if (in.word("verbose")) {
    *display = DisplayEnv::verbose;
    return true;
  }
  bool value = false;
  if (!read_bool(in, &value)) return false;
  *display = value ? DisplayEnv::yes : DisplayEnv::no;
  return true;
}

// A list of policies, or one word that holds for every level.
bool read(Scanner& in, const Row&, BindList* list) noexcept {
  bool value = false;
  Scanner ahead = in;
  if (read_bool(ahead, &value)) {
    in = ahead;
    *list = {{value ? ProcBind::true_ : ProcBind::false_}, 1};
    return true;
  }
  do {
    if (list->count == BindList::kMost) return false;
    ProcBind& policy = list->values[list->count++];
    if (in.word("primary") || in.word("master")) {
      policy = ProcBind::primary;
    } else if (in.word("close")) {
      policy = ProcBind::close;
    } else if (in.word("spread")) {
      policy = ProcBind::spread;
    } else {
      return false;
    }
  } while (in.take(','));
  return true;
}

bool read(Scanner& in, const Row&, ToolUse* use) noexcept {
  if (in.word("enabled")) {
    *use = ToolUse::enabled;
    return true;
  }
  *use = ToolUse::disabled;
  return in.word("disabled");
}

bool read(Scanner& in, const Row&, Mode* mode) noexcept {
  if (in.word("dynamic")) {
    *mode = Mode::dynamic;
  } else if (in.word("static")) {
    *mode = Mode::static_;
  } else if (in.word("exclusive")) {
    *mode = Mode::exclusive;
  } else {
    *mode = Mode::counting;
    return in.word("counting");
  }
  return true;
}

}  // namespace

const char* name_of(Mode mode) noexcept {
  switch (mode) {
    case Mode::dynamic: return "dynamic";
    case Mode::static_: return "static";
    case Mode::exclusive: return "exclusive";
    case Mode::counting: return "counting";
  }
  return "";
}

namespace {

// The value of `variable` in the environment, or null.
const char* find(const char* const* environment, const char* variable) noexcept {
  const size_t length = std::strlen(variable);
  for (; *environment != nullptr; ++environment) {
    if (std::strncmp(*environment, variable, length) == 0 && (*environment)[length] == '=') {
      return *environment + length + 1;
    }
  }
  return nullptr;
}

// An empty or blank value counts as none.
const char* find_value(const char* const* environment, const char* variable) noexcept {
  const char* text = find(environment, variable);
  return text == nullptr || Scanner(text).at_end() ? nullptr : text;
}

// The words of a warning: what is accepted, by type.
const char* accepted(const bool*) noexcept { return "true or false"; }
const char* accepted(const TriState*) noexcept { return "true or false"; }
const char* accepted(const ThreadList*) noexcept { return "up to 16 numbers from 1 to 32768 with commas between"; }
const char* accepted(const LoopSchedule*) noexcept {
  return "[monotonic:|nonmonotonic:]static|dynamic|guided|auto[,chunk of 1 or more]";
}
const char* accepted(const StackSize*) noexcept { return "64K to 1024G, with unit B, K, M or G"; }
const char* accepted(const WaitPolicy*) noexcept { return "active or passive"; }
const char* accepted(const TargetOffload*) noexcept { return "mandatory, disabled or default"; }
const char* accepted(const BindList*) noexcept {
  return "true, false or up to 16 of primary, close and spread with commas between";
}
const char* accepted(const DisplayEnv*) noexcept { return "true, false or verbose"; }
const char* accepted(const ToolUse*) noexcept { return "enabled or disabled"; }
const char* accepted(const Mode*) noexcept { return "dynamic, static, exclusive or counting"; }

void refuse(const Row& row, const char* text, const int*) noexcept {
  warn("%s=%.*s is not a whole number from %lld to %lld; the default is used", row.variable, kShownOfValue, text,
       row.least, row.most);
}

template <class Value>
void refuse(const Row& row, const char* text, const Value* value) noexcept {
  warn("%s=%.*s is not %s; the default is used", row.variable, kShownOfValue, text, accepted(value));
}

template <class Value>
void set(const char* const* environment, const Row& row, Value* value) noexcept {
  const char* text = find_value(environment, row.variable);
  if (text == nullptr) return;
  Scanner in(text);
  Value wanted = *value;
  if (read(in, row, &wanted) && in.at_end()) {
    *value = wanted;
    return;
  }
  refuse(row, text, value);
}

void set(const char* const* environment, const Row& row, Text* text) noexcept {
  text->value = find_value(environment, row.variable);
}

// Changes of one letter that lead from one name to the other, counted up to a limit (Levenshtein).
int distance(const char* a, size_t a_length, const char* b) noexcept {
  constexpr size_t kLongest = 64;
  const size_t b_length = std::strlen(b);
  if (a_length >= kLongest || b_length >= kLongest) return kLongest;
  int row[kLongest];
  for (size_t j = 0; j <= b_length; ++j) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a_length; ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b_length; ++j) {
      const int replaced = diagonal + (a[i - 1] != b[j - 1] ? 1 : 0);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b_length];
}

// Names that are ours by their prefix, unknown, and close to one we know: a slip of the keyboard.
void warn_about_misspellings(const char* const* environment) noexcept {
  constexpr int kClose = 2;
  for (; *environment != nullptr; ++environment) {
    const char* name = *environment;
    if (std::strncmp(name, "OMP_", 4) != 0 && std::strncmp(name, "WEFT_", 5) != 0) continue;
    const char* end = std::strchr(name, '=');
    if (end == nullptr) continue;
    const auto length = static_cast<size_t>(end - name);
    const Row* closest = nullptr;
    int least = kClose + 1;
    for (const Row& row : kRows) {
      const int changes = distance(name, length, row.variable);
      if (changes < least) {
        least = changes;
        closest = &row;
      }
    }
    if (closest != nullptr && least > 0) {
      warn("%.*s is not a variable weft knows; did you mean %s?", static_cast<int>(length), name, closest->variable);
    }
  }
}

}  // namespace

Options parse(const char* const* environment) noexcept {
  Options options;
  const Row* row = kRows;
#define WEFT_OPTION(field, variable, type, value, least, most, help) set(environment, *row++, &options.field);
#include "base/options.def"
#undef WEFT_OPTION
  // A privileged program must not load what its caller names.
  if (getauxval(AT_SECURE) != 0) {
    options.runtime.value = nullptr;
    options.tool_libraries.value = nullptr;
    options.tool_verbose_init.value = nullptr;
    options.trace_file.value = nullptr;
  }
  warn_about_misspellings(environment);
  return options;
}

const Options& options() noexcept {
  static const Options parsed = parse(environ);
  return parsed;
}

OptionRow option_row(int index) noexcept {
  const Row& row = kRows[index];
  return {row.variable, row.help, find_value(environ, row.variable)};
}

}  // namespace weft::base
