// SPDX-License-Identifier: Apache-2.0
#include "base/options.h"

#include <sys/auxv.h>
#include <unistd.h>
#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/message.h"
#include "base/option_values.h"
#include "base/program_defaults.h"
#include "base/quiet_options.h"
#include "base/scanner.h"
#include "base/spelling.h"

namespace weft::base {

namespace {

struct Row {
  const char* variable;
  const char* help;
  NumberRange range;
};

constexpr Row kRows[] = {
#define WEFT_OPTION(field, variable, type, value, least, most, help) {#variable, help, {least, most}},
#include "base/options.def"
#undef WEFT_OPTION
};

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

// The same in what a program brings; null if that is null.
const char* find_default(const char* defaults, const char* variable) noexcept {
  if (defaults == nullptr) return nullptr;
  for (; *defaults != '\0'; defaults += std::strlen(defaults) + 1) {
    const char* const setting[] = {defaults, nullptr};
    if (const char* text = find_value(setting, variable); text != nullptr) return text;
  }
  return nullptr;
}

struct Given {
  const char* const* environment;
  const char* defaults;
  bool warn;

  const char* value(const Row& row) const noexcept { return text(row.variable); }
  const char* text(const char* variable) const noexcept {
    const char* found = find_value(environment, variable);
    return found != nullptr ? found : find_default(defaults, variable);
  }
};

template <class Value>
bool is_value(const NumberRange& range, const char* text, Value* value) noexcept {
  Scanner in(text);
  return read(in, range, value) && in.at_end();
}

bool is_value(const NumberRange&, const char*, Text*) noexcept { return true; }

template <class Value>
Accepted accepted_by(const Row&, const Value* value) noexcept {
  return {accepted(value), 0, 0};
}
Accepted accepted_by(const Row& row, const int*) noexcept { return {nullptr, row.range.least, row.range.most}; }
Accepted accepted_by(const Row&, const Text*) noexcept { return {"any text", 0, 0}; }

void refuse(const Row& row, const char* text, const Accepted& accepted) noexcept {
  if (accepted.words != nullptr) {
    warn("%s=%.*s is not %s; the default is used", row.variable, kShownOfValue, text, accepted.words);
  } else {
    warn("%s=%.*s is not a whole number from %lld to %lld; the default is used", row.variable, kShownOfValue, text,
         accepted.least, accepted.most);
  }
}

template <class Value>
void set(const Given& given, const Row& row, Value* value) noexcept {
  const char* text = given.value(row);
  if (text == nullptr) return;
  Value wanted = *value;
  if (is_value(row.range, text, &wanted)) {
    *value = wanted;
    return;
  }
  if (given.warn) refuse(row, text, accepted_by(row, value));
}

void set(const Given& given, const Row& row, Text* text) noexcept { text->value = given.value(row); }

bool is_known(const char* name, size_t length) noexcept {
  return std::any_of(std::begin(kRows), std::end(kRows), [name, length](const Row& row) {
    return std::strncmp(row.variable, name, length) == 0 && row.variable[length] == 0;
  });
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
    // Most names are right, and to compare one with all others is a good part of the start.
    if (is_known(name, length)) continue;
    const Row* closest = nullptr;
    int least = kClose + 1;
    for (const Row& row : kRows) {
      const int changes = spelling_distance(name, length, row.variable);
      if (changes < least) {
        least = changes;
        closest = &row;
      }
    }
    if (closest != nullptr) {
      warn("%.*s is not a variable weft knows; did you mean %s?", static_cast<int>(length), name, closest->variable);
    }
  }
}

Options parse(const Given& given) noexcept {
  Options options;
  const Row* row = kRows;
#define WEFT_OPTION(field, variable, type, value, least, most, help) set(given, *row++, &options.field);
#include "base/options.def"
#undef WEFT_OPTION
  if (options.kmp_composability.set && given.text("WEFT_MODE") == nullptr) {
    options.mode = options.kmp_composability.mode;
  }
  // A privileged program must not load what its caller names.
  if (getauxval(AT_SECURE) != 0) {
    options.runtime.value = nullptr;
    options.tool_libraries.value = nullptr;
    options.tool_verbose_init.value = nullptr;
    options.trace_file.value = nullptr;
    options.makeflags.value = nullptr;
  }
  if (given.warn) warn_about_misspellings(given.environment);
  return options;
}

}  // namespace

Options parse(const char* const* environment, const char* defaults) noexcept {
  return parse(Given{environment, defaults, true});
}

const Options& options() noexcept {
  static const Options parsed = parse(environ, weft_defaults);
  return parsed;
}

const Options& quiet_options() noexcept {
  static const Options parsed = parse(Given{environ, weft_defaults, false});
  return parsed;
}

Accepted accepted_values(const char* variable) noexcept {
  const Row* row = kRows;
#define WEFT_OPTION(field, name, type, value, least, most, help)                                              \
  if (std::strcmp(variable, row->variable) == 0) return accepted_by(*row, static_cast<const type*>(nullptr)); \
  ++row;
#include "base/options.def"
#undef WEFT_OPTION
  return {"", 0, 0};
}

Verdict judge(const char* variable, const char* text) noexcept {
  const Row* row = kRows;
#define WEFT_OPTION(field, name, type, value, least, most, help)                     \
  if (std::strcmp(variable, row->variable) == 0) {                                   \
    type wanted = value;                                                             \
    return is_value(row->range, text, &wanted) ? Verdict::good : Verdict::bad_value; \
  }                                                                                  \
  ++row;
#include "base/options.def"
#undef WEFT_OPTION
  return Verdict::no_such_variable;
}

OptionRow option_row(int index) noexcept {
  const Row& row = kRows[index];
  return {row.variable, row.help, find_value(environ, row.variable)};
}

}  // namespace weft::base
