// SPDX-License-Identifier: Apache-2.0
#include "base/option_values.h"

#include <utility>

namespace weft::base {

namespace {

bool read_bool(Scanner& in, bool* value) noexcept {
  if (in.word("true") || in.word("yes") || in.word("on") || in.word("1")) return *value = true;
  *value = false;
  return in.word("false") || in.word("no") || in.word("off") || in.word("0");
}

}  // namespace

bool read(Scanner& in, const NumberRange&, bool* value) noexcept { return read_bool(in, value); }

bool read(Scanner& in, const NumberRange& range, int* value) noexcept {
  long long number = 0;
  if (!in.number(range.least, range.most, &number)) return false;
  *value = static_cast<int>(number);
  return true;
}

bool read(Scanner& in, const NumberRange& range, ThreadList* list) noexcept {
  do {
    long long number = 0;
    if (list->count == ThreadList::kMost || !in.number(range.least, range.most, &number)) return false;
    list->values[list->count++] = static_cast<int>(number);
  } while (in.take(','));
  return true;
}

// A number, a kind alone, or kinds with a number each (OpenMP 6.0, section 4.3.10).
bool read(Scanner& in, const NumberRange& range, ThreadsReserve* reserve) noexcept {
  long long number = 0;
  if (in.sees_digit()) {
    if (!in.number(range.least, range.most, &number)) return false;
    reserve->structured = static_cast<int>(number);
    return true;
  }
  bool seen[2] = {};
  do {
    const bool structured = in.word("structured");
    if (!structured && !in.word("free_agent")) return false;
    if (std::exchange(seen[structured ? 1 : 0], true)) return false;
    int& reserved = structured ? reserve->structured : reserve->free_agent;
    if (!in.take('(')) {
      reserved = ThreadsReserve::kAll;
      return !(seen[0] && seen[1]);
    }
    if (!in.number(range.least, range.most, &number) || !in.take(')')) return false;
    reserved = static_cast<int>(number);
  } while (in.take(','));
  return true;
}

bool read(Scanner& in, const NumberRange&, LoopSchedule* schedule) noexcept {
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

bool read(Scanner& in, const NumberRange& range, StackSize* size) noexcept {
  long long number = 0;
  if (!in.number(0, range.most, &number)) return false;
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
  if (number > range.most >> shift || number << shift < range.least) return false;
  size->bytes = static_cast<long>(number << shift);
  return true;
}

bool read(Scanner& in, const NumberRange&, TriState* state) noexcept {
  bool value = false;
  if (!read_bool(in, &value)) return false;
  *state = value ? TriState::yes : TriState::no;
  return true;
}

bool read(Scanner& in, const NumberRange&, WaitPolicy* policy) noexcept {
  if (in.word("active")) {
    *policy = WaitPolicy::active;
    return true;
  }
  *policy = WaitPolicy::passive;
  return in.word("passive");
}

bool read(Scanner& in, const NumberRange&, TargetOffload* offload) noexcept {
  if (in.word("default")) {
    *offload = TargetOffload::unset;
    return true;
  }
  *offload = TargetOffload::disabled;
  if (in.word("disabled")) return true;
  *offload = TargetOffload::mandatory;
  return in.word("mandatory");
}

bool read(Scanner& in, const NumberRange&, DisplayEnv* display) noexcept {
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
bool read(Scanner& in, const NumberRange&, BindList* list) noexcept {
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

bool read(Scanner& in, const NumberRange&, Stats* stats) noexcept {
  bool wanted = false;
  *stats = Stats::all;
  if (in.word("all")) return true;
  if (!read_bool(in, &wanted)) return false;
  *stats = wanted ? Stats::summary : Stats::off;
  return true;
}

bool read(Scanner& in, const NumberRange&, ToolUse* use) noexcept {
  if (in.word("enabled")) {
    *use = ToolUse::enabled;
    return true;
  }
  *use = ToolUse::disabled;
  return in.word("disabled");
}

bool read(Scanner& in, const NumberRange&, Mode* mode) noexcept {
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

bool read(Scanner& in, const NumberRange& range, Composability* composability) noexcept {
  if (in.word("mode") && !in.take('=')) return false;
  composability->set = true;
  return read(in, range, &composability->mode) && composability->mode != Mode::static_;
}

namespace {

// One of the names that `name_of` has for the values from the first to `last`.
template <class Value>
bool read_name(Scanner& in, Value last, Value* value) noexcept {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    *value = static_cast<Value>(i);
    if (in.word(name_of(*value))) return true;
  }
  return false;
}

// "0-1,3": NUMA nodes.
bool read_nodes(Scanner& in) noexcept {
  constexpr long long kMost = 1023;  // what Linux can be built for
  do {
    long long first = 0;
    long long last = 0;
    if (!in.number(0, kMost, &first)) return false;
    if (in.take('-') && !in.number(first, kMost, &last)) return false;
  } while (in.take(','));
  return true;
}

}  // namespace

bool read(Scanner& in, const NumberRange&, Balance* balance) noexcept {
  return read_name(in, Balance::central, balance);
}

bool read(Scanner& in, const NumberRange&, Numa* numa) noexcept {
  if (!read_name(in, Numa::preferred, numa)) return false;
  if (!places_memory(*numa)) return true;
  return in.take('=') ? read_nodes(in) : *numa == Numa::interleave;
}

bool read(Scanner& in, const NumberRange& range, Grain* grain) noexcept {
  long long number = 0;
  if (!in.number(range.least, range.most, &number)) return false;
  constexpr int64_t kNsOfUs = 1000;
  *grain = {};
  if (in.word("us")) {
    grain->ns = number * kNsOfUs;
  } else {
    grain->iterations = number;
  }
  return true;
}

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
const char* accepted(const Stats*) noexcept { return "true, false or all"; }
const char* accepted(const DisplayEnv*) noexcept { return "true, false or verbose"; }
const char* accepted(const ThreadsReserve*) noexcept {
  return "a number, structured, free_agent, or structured(number),free_agent(number)";
}
const char* accepted(const ToolUse*) noexcept { return "enabled or disabled"; }
const char* accepted(const Mode*) noexcept { return "dynamic, static, exclusive or counting"; }
const char* accepted(const Composability*) noexcept { return "mode=exclusive, mode=counting or mode=dynamic"; }

const char* accepted(const Balance*) noexcept { return "auto, static, affinity, steal or central"; }
const char* accepted(const Grain*) noexcept {
  return "a number of iterations from 1 to 1000000000, or of microseconds with the unit us";
}
const char* accepted(const Numa*) noexcept {
  return "none, compact, spread, local, interleave[=NODES], bind=NODES, preferred=NODE or preferred-many=NODES";
}

const char* name_of(Balance balance) noexcept {
  static constexpr const char* kNames[] = {"auto", "static", "affinity", "steal", "central"};
  return kNames[static_cast<int>(balance)];
}

const char* name_of(Numa numa) noexcept {
  static constexpr const char* kNames[] = {"none",       "compact", "spread",         "local",
                                           "interleave", "bind",    "preferred-many", "preferred"};
  return kNames[static_cast<int>(numa)];
}

const char* name_of(Stats stats) noexcept {
  return stats == Stats::all ? "ALL" : stats == Stats::summary ? "TRUE" : "FALSE";
}

const char* name_of(Mode mode) noexcept {
  switch (mode) {
    case Mode::dynamic: return "dynamic";
    case Mode::static_: return "static";
    case Mode::exclusive: return "exclusive";
    case Mode::counting: return "counting";
  }
  return "";
}

}  // namespace weft::base
