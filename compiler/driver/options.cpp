// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <cstdio>

#include "base/options.h"
#include "base/spelling.h"
#include "refusal.h"

namespace weft::driver {

namespace {

enum class Id { compiler, lowering, report, keep, setting, fixed_setting, show };

struct Row {
  const char* name;
  const char* value;     // how it is written behind the name; "" : there is none
  Id id;
  const char* variable;  // of the runtime, for which a program gets a default
  const char* help;
};

constexpr Row kRows[] = {
    {"--weft-cc", "=COMPILER", Id::compiler, nullptr, "compile by this one, a command or a path"},
    {"--weft-lower", "=none|hint|range", Id::lowering, nullptr,
     "what becomes of parallel loops: nothing, advice to the runtime, or the runtime divides them (default: range)"},
    {"--weft-report", "[=FILE]", Id::report, nullptr,
     "say what has become of each construct, on stderr or at the end of FILE; as lines of JSON if it ends in .json"},
    {"--weft-keep", "", Id::keep, nullptr,
     "keep LLVM's code from before and after the pass: OUTPUT.before.ll, OUTPUT.after.ll"},
    {"--weft-os-threads", "=N", Id::fixed_setting, "WEFT_NUM_CPUS",
     "default of the program: OS threads that run at once (WEFT_NUM_CPUS)"},
    {"--weft-max-threads", "=N", Id::fixed_setting, "OMP_THREAD_LIMIT",
     "default of the program: most user-level threads of all regions together (OMP_THREAD_LIMIT)"},
    {"--weft-region-threads", "=N", Id::fixed_setting, "WEFT_REGION_THREADS",
     "default of the program: most user-level threads of one region (WEFT_REGION_THREADS)"},
    {"--weft-balance", "=auto|static|affinity|steal|central", Id::fixed_setting, "WEFT_BALANCE",
     "default of the program: how loops without a schedule are divided (WEFT_BALANCE)"},
    {"--weft-grain", "=N|Nus", Id::fixed_setting, "WEFT_GRAIN",
     "default of the program: iterations or microseconds that a thread takes at once, at least (WEFT_GRAIN)"},
    {"--weft-numa", "=none|compact|spread|local", Id::fixed_setting, "WEFT_NUMA",
     "default of the program: how threads are bound by NUMA domains (WEFT_NUMA)"},
    {"--weft-set", "=NAME=VALUE", Id::setting, nullptr,
     "default of the program for any variable of the runtime; may be repeated"},
    {"--showme", "[:WHAT]", Id::show, nullptr,
     "print the command instead of running it; WHAT: compile, link, libs, incdirs, libdirs, command or version"},
};

// Read by others than the runtime, or of no use as a default of a program.
constexpr const char* kOnlyEnvironment[] = {"TCM_ENABLE",   "WEFT_ADOPT_LIBRARIES", "WEFT_EXPLAIN",
                                            "WEFT_LIBRARY", "WEFT_STATIC_FACTOR",   "WEFT_TRACE_FILE",
                                            "WEFT_MPI",     "WEFT_COLLECTIVES"};

[[noreturn]] void refuse(std::string message) { throw Refusal{kUsage, std::move(message)}; }

[[noreturn]] void refuse_unknown(const std::string& name) {
  constexpr int kClose = 3;
  const Row* closest = nullptr;
  int least = kClose + 1;
  for (const Row& row : kRows) {
    const int changes = base::spelling_distance(name.c_str(), name.size(), row.name);
    if (changes < least) {
      closest = &row;
      least = changes;
    }
  }
  const std::string better = closest != nullptr ? std::string("did you mean ") + closest->name + "?" : "see --help";
  refuse(name + ": no such option; " + better);
}

std::string accepted_text(const std::string& variable) {
  const base::Accepted accepted = base::accepted_values(variable.c_str());
  if (accepted.words != nullptr) return accepted.words;
  return "a whole number from " + std::to_string(accepted.least) + " to " + std::to_string(accepted.most);
}

// Of WEFT_NUMA.
bool is_of_memory(const std::string& value) {
  const std::string setting = "WEFT_NUMA=" + value;
  const char* const environment[] = {setting.c_str(), nullptr};
  return base::judge("WEFT_NUMA", value.c_str()) == base::Verdict::good &&
         base::places_memory(base::parse(environment).numa);
}

// `option` is what the message names.
void add_default(Words& defaults, const std::string& option, const std::string& variable, const std::string& value) {
  for (const char* name : kOnlyEnvironment) {
    if (variable == name) refuse(option + ": " + variable + " works in the environment only");
  }
  if (variable == "WEFT_NUMA" && is_of_memory(value)) {
    refuse(option + ": WEFT_NUMA cannot be \"" + value +
           "\" by default, since the program has memory when it is read: it is none, compact, spread or local");
  }
  switch (value.empty() ? base::Verdict::bad_value : base::judge(variable.c_str(), value.c_str())) {
    case base::Verdict::good: break;
    case base::Verdict::bad_value:
      refuse(option + ": " + variable + " cannot be \"" + value + "\": it is " + accepted_text(variable));
    case base::Verdict::no_such_variable: refuse(option + ": the runtime has no variable " + variable);
  }
  const std::string setting = variable + "=" + value;
  for (const std::string& other : defaults) {
    if (other == setting) return;
    if (other.compare(0, variable.size() + 1, setting, 0, variable.size() + 1) == 0) {
      refuse(option + ": contradicts " + other + ", which is there as well");
    }
  }
  defaults.push_back(setting);
}

// Sets what may be said again, but not otherwise.
template <class Value>
void set_once(std::optional<Value>& slot, Value value, const std::string& option, const char* name) {
  if (slot && *slot != value) refuse(option + ": contradicts another " + name + " of the same command");
  slot = std::move(value);
}

const char* kShown[] = {"compile", "link", "libs", "incdirs", "libdirs", "command", "version"};

std::string shown(const std::string& option, const std::string& what) {
  for (const char* known : kShown) {
    if (what == known) return what;
  }
  refuse(option + ": there are compile, link, libs, incdirs, libdirs, command and version");
}

void apply(Options& options, const Row& row, const std::string& option, const std::string& value) {
  switch (row.id) {
    case Id::compiler:
      if (!options.compiler.empty() && options.compiler != value) {
        refuse(option + ": contradicts --weft-cc=" + options.compiler);
      }
      options.compiler = value;
      break;
    case Id::lowering: set_once(options.lowering, lowering_of(value, option), option, row.name); break;
    case Id::report: set_once(options.report, value, option, row.name); break;
    case Id::keep: options.keep = true; break;
    case Id::fixed_setting: add_default(options.defaults, option, row.variable, value); break;
    case Id::setting: {
      const size_t equals = value.find('=');
      if (equals == 0 || equals == std::string::npos) refuse(option + ": NAME=VALUE is wanted");
      add_default(options.defaults, option, value.substr(0, equals), value.substr(equals + 1));
      break;
    }
    case Id::show: set_once(options.show, value.empty() ? value : shown(option, value), option, row.name); break;
  }
}

std::string line_of_help(const std::string& left, const std::string& right) {
  constexpr size_t kColumn = 26;
  std::string line = "  " + left;
  if (line.size() + 2 > kColumn) {
    line += '\n' + std::string(kColumn, ' ');
  } else {
    line.resize(kColumn, ' ');
  }
  return line + right + '\n';
}

}  // namespace

const char* name_of(Lowering lowering) {
  constexpr const char* kNames[] = {"none", "hint", "range"};
  return kNames[static_cast<int>(lowering)];
}

Lowering lowering_of(const std::string& text, const std::string& from) {
  for (const Lowering lowering : {Lowering::none, Lowering::hint, Lowering::range}) {
    if (text == name_of(lowering)) return lowering;
  }
  refuse(from + ": none, hint or range is wanted");
}

Options read_options(const Words& own) {
  Options options;
  for (const std::string& option : own) {
    const std::string name = option.substr(0, option.find_first_of(option[2] == 's' ? ":=" : "="));
    const Row* row = nullptr;
    for (const Row& known : kRows) {
      if (name == known.name) row = &known;
    }
    if (row == nullptr) refuse_unknown(name);
    const bool has_value = option.size() > name.size();
    if (has_value && row->value[0] == '\0') refuse(option + ": " + row->name + " takes no value");
    const std::string value = has_value ? option.substr(name.size() + 1) : std::string();
    if (value.empty() && (has_value || row->value[0] == '=')) {
      refuse(option + ": a value is missing: " + row->name + row->value);
    }
    apply(options, *row, option, value);
  }
  return options;
}

std::string help(Language language) {
  const LanguageNames& names = names_of(language);
  std::string text =
      std::string(names.command) + ": compile " + names.what + " programs whose OpenMP runs on weft\n" +
      "Usage: " + names.command + " [OPTIONS] [OPTIONS OF THE COMPILER] FILES...\n\n" +
      "It acts where OpenMP is asked for (-fopenmp). Other command lines are the compiler's, unchanged.\n\n" +
      "Options:\n";
  text += line_of_help("--help", "print this help; must stand alone");
  for (const Row& row : kRows) {
    text += line_of_help(std::string(row.name) + row.value, row.help);
  }
  text += "\nEnvironment:\n";
  text += line_of_help(names.variable,
                       std::string("the compiler (default: ") + names.compilers[0] + "); --weft-cc goes first");
  text += line_of_help("WEFTCC_LOWER", "none, hint or range; --weft-lower goes first");
  text += line_of_help("WEFTCC_COMPILE_FLAGS_APPEND", "added where something is compiled with OpenMP");
  text += line_of_help("WEFTCC_LINK_FLAGS_APPEND", "added where something is linked with OpenMP");
  text += "\nFiles:\n";
  text += line_of_help("weftcc.cfg", "beside this command; lines of NAME = VALUE, the names: cc, cxx, fc, lower,");
  text += line_of_help("", "libraries (the folder of the runtime), compile-flags, link-flags");
  return text;
}

}  // namespace weft::driver
