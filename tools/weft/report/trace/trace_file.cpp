// SPDX-License-Identifier: Apache-2.0
#include "report/trace/trace_file.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <unordered_map>

#include "observe/format/events.h"
#include "observe/format/files.h"

namespace weft::tools::report {

namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr double kLongest = 1e18;  // nanoseconds that still can be counted

// What another program may have written is taken as if it were not there.
template <class Number>
Number number_of(const Json& object, const char* name, Number otherwise) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number()) return otherwise;
  const auto value = found->get<double>();
  const auto least = static_cast<double>(std::numeric_limits<Number>::min());
  const auto most = std::min(static_cast<double>(std::numeric_limits<Number>::max()), kLongest);
  return value >= least && value <= most ? static_cast<Number>(value) : otherwise;
}

// In the file they are microseconds.
int64_t time_of(const Json& object, const char* name, int64_t otherwise) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number()) return otherwise;
  const double ns = found->get<double>() * 1e3;
  return std::abs(ns) < kLongest ? std::llround(ns) : otherwise;
}

std::string_view text_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return {};
  return found->get_ref<const std::string&>();
}

[[noreturn]] void refuse(const char* what, std::string_view word) {
  throw std::runtime_error(std::string("has a ") + what + " \"" + std::string(word) +
                           "\" of which this weft does not know; the weft that has written the trace reads it");
}

// Null: of a category that is not known. A word that is not known leaves open what the context did.
const observe::EventRow* row_of(std::string_view category, std::string_view word) {
  static constexpr observe::EventRow kMember{observe::Category::member, 0, "", observe::Event::member};
  static constexpr observe::EventRow kTask{observe::Category::task, 0, "", observe::Event::task};
  const int number = observe::number_of_word(observe::kCategoryWords, category);
  if (number < 0) return nullptr;
  const auto known = static_cast<observe::Category>(number);
  if (known == observe::Category::member) return &kMember;
  if (known == observe::Category::task) return &kTask;
  const observe::EventRow* row = observe::row_of(known, word);
  if (row != nullptr) return row;
  refuse(known == observe::Category::wait ? "wait" : "construct", word);
}

observe::Schedule schedule_of(const Json& word) {
  if (!word.is_string()) return observe::Schedule::unknown;
  const auto& text = word.get_ref<const std::string&>();
  const int number = observe::number_of_word(observe::kScheduleWords, text);
  if (number < 0) refuse("loop by a schedule", text);
  return static_cast<observe::Schedule>(number);
}

class Numbers {
 public:
  uint32_t of(std::string_view name) {
    return known_.try_emplace(std::string(name), static_cast<uint32_t>(known_.size()) + 1).first->second;
  }
  const std::unordered_map<std::string, uint32_t>& all() const { return known_; }

 private:
  std::unordered_map<std::string, uint32_t> known_;
};

class Reader {
 public:
  Trace read(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    // A slice takes so many bytes at least, with its name and place.
    constexpr uintmax_t kSlice = 140;
    std::error_code no_size;
    const uintmax_t size = fs::file_size(file, no_size);
    if (!no_size) trace_.slices.reserve(size / kSlice);
    Json rest;
    try {
      rest = Json::parse(
          in, [this](int depth, Json::parse_event_t event, Json& value) { return take(depth, event, value); });
    } catch (const Json::parse_error& fault) {
      if (!no_size && fault.byte >= size) {
        throw std::runtime_error(
            "the trace is cut off: its end is missing, which says what the rest means; trace the "
            "program again");
      }
      throw std::runtime_error("not JSON: something is wrong at its byte " + std::to_string(fault.byte));
    } catch (const Json::exception& fault) {
      throw std::runtime_error("not JSON: it has a number that is out of range");
    }
    take_rest(rest);
    sort();
    return std::move(trace_);
  }

 private:
  // An event is done with when it has been read. The rest stays.
  bool take(int depth, Json::parse_event_t event, Json& value) {
    using Event = Json::parse_event_t;
    if (event == Event::key && depth == 1) in_events_ = value == "traceEvents";
    if (!in_events_ || depth != 2) return true;
    if (event == Event::object_end) take_event(value);
    return event == Event::object_start || event == Event::array_start || event == Event::key;
  }

  void take_event(const Json& event) {
    if (text_of(event, "ph") != "X") return;
    const std::string_view category = text_of(event, "cat");
    if (category == observe::kIdleCategory) return;
    const int process = number_of(event, "pid", process_);
    if (process_ != 0 && process != process_) is_merged_ = true;
    process_ = process;
    static const Json kNone = Json::object();
    const auto found = event.find("args");
    const Json& more = found != event.end() && found->is_object() ? *found : kNone;
    const bool is_call = category == observe::kCallCategory;
    const observe::EventRow* row = is_call ? nullptr : row_of(category, text_of(event, "name"));
    if (row == nullptr && !is_call) {
      ++trace_.left_out["of a category \"" + std::string(category) + "\" that this weft does not know"];
      return;
    }
    const int64_t begin = time_of(event, "ts", -1);
    const int64_t duration = time_of(event, "dur", -1);
    const int64_t held = more.contains("held") ? time_of(more, "held", -1) : 0;
    if (begin < 0 || duration < 0 || held < 0) {
      ++trace_.left_out["of the category \"" + std::string(category) + "\" with times that cannot be"];
    }
    if (begin < 0 || duration < 0) return;
    const int64_t end = begin + duration;
    if (is_call) {
      trace_.calls.push_back({begin, end, number_of(more, "context", -1), number_of(more, "peer", -1),
                              call_names_.of(text_of(event, "name"))});
      return;
    }
    Slice slice;
    slice.what = row->event;
    slice.begin = begin;
    slice.end = end;
    slice.track = number_of(event, "tid", 0);
    slice.opened = time_of(more, "opened", -1);
    slice.held = std::max<int64_t>(0, held);
    slice.team = number_of<uint64_t>(more, "team", 0);
    slice.iterations = number_of<uint64_t>(more, "iterations", 0);
    slice.context = number_of(more, "context", -1);
    slice.member = number_of(more, "member", 0);
    slice.of = number_of(more, "of", 0);
    slice.requested = number_of(more, "requested", 0);
    if (const auto paused = more.find("paused"); paused != more.end()) slice.paused = *paused == true;
    if (const auto loop = more.find("loop"); loop != more.end() && loop->is_object()) {
      slice.iterations = number_of<uint64_t>(*loop, "iterations", 0);
      slice.stolen = number_of<uint64_t>(*loop, "taken by others", 0);
    }
    if (const std::string_view at = text_of(more, "at"); !at.empty()) slice.place = place_names_.of(at);
    trace_.slices.push_back(slice);
  }

  // Behind the events.
  void take_rest(const Json& rest) {
    constexpr char kOther[] = "a trace by another program; those by `weft trace` are read";
    if (!rest.is_object() || !rest.contains("otherData")) throw std::runtime_error(kOther);
    const Json& other = rest["otherData"];
    if (!other.is_object()) throw std::runtime_error(kOther);
    if (is_merged_ || (other.contains("ranks") && !other.contains("began"))) {
      throw std::runtime_error(
          "the traces of several ranks in one; give the trace of one rank, as `weft trace --mpi` has written it");
    }
    if (!other.contains("lost") || !other.contains("began")) throw std::runtime_error(kOther);
    const auto run = other.find("run");
    if (run == other.end() || !run->is_object() || text_of(*run, "format") != observe::kTraceFormat) {
      throw std::runtime_error(
          "a trace by another version of weft, without what a report needs; trace the program again");
    }
    trace_.run = *run;
    trace_.rank = number_of(other, "rank", -1);
    trace_.ranks = number_of(other, "ranks", 0);
    trace_.lost = number_of<uint64_t>(other, "lost", 0);
    const auto cut_off = other.find("cut_off");
    trace_.is_cut_off = cut_off != other.end() && cut_off->is_boolean() && cut_off->get<bool>();
    take_places(other);
    take_roots();
    trace_.call_names.resize(call_names_.all().size() + 1);
    for (const auto& [name, number] : call_names_.all()) trace_.call_names[number] = name;
  }

  void take_places(const Json& other) {
    trace_.places.resize(place_names_.all().size() + 1);
    const auto places = other.find("places");
    if (places == other.end()) return;
    for (const Json& row : *places) {
      if (!row.is_array() || row.size() < 3 || !row[0].is_string() || !row[1].is_number_unsigned()) continue;
      const auto known = place_names_.all().find(row[0].get_ref<const std::string&>());
      if (known == place_names_.all().end()) continue;
      trace_.places[known->second] = {row[1], schedule_of(row[2])};
    }
  }

  void take_roots() {
    const auto roots = trace_.run.find("roots");
    if (roots == trace_.run.end() || !roots->is_array()) return;
    for (const Json& row : *roots) {
      if (!row.is_array() || row.size() < 3) continue;
      const Json named = {{"context", row[0]}, {"began", row[1]}, {"ended", row[2]}};
      const auto began = std::max<int64_t>(0, number_of<int64_t>(named, "began", 0));
      trace_.roots.push_back({number_of(named, "context", -1), began, number_of<int64_t>(named, "ended", began)});
    }
  }

  void sort() {
    std::vector<uint32_t> order(trace_.slices.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
    const auto before = [this](uint32_t a, uint32_t b) {
      const Slice& one = trace_.slices[a];
      const Slice& other = trace_.slices[b];
      if (one.track != other.track) return one.track < other.track;
      if (one.begin != other.begin) return one.begin < other.begin;
      if (one.end != other.end) return one.end > other.end;
      return a < b;
    };
    if (!std::is_sorted(order.begin(), order.end(), before)) {
      std::sort(order.begin(), order.end(), before);
      std::vector<Slice> sorted;
      sorted.reserve(order.size());
      for (const uint32_t i : order) sorted.push_back(trace_.slices[i]);
      trace_.slices = std::move(sorted);
    }
    std::sort(trace_.calls.begin(), trace_.calls.end(), [](const Call& a, const Call& b) { return a.begin < b.begin; });
  }

  Trace trace_;
  Numbers place_names_;
  Numbers call_names_;
  int process_ = 0;
  bool in_events_ = false;
  bool is_merged_ = false;
};

}  // namespace

Trace read_trace(const fs::path& file) { return Reader().read(file); }

}  // namespace weft::tools::report
