// SPDX-License-Identifier: Apache-2.0
#include "merge.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include <nlohmann/json.hpp>

#include "base/message.h"
#include "exit_codes.h"
#include "report_file.h"

namespace weft::tools {

namespace {

using Json = nlohmann::json;

struct Trace {
  Json events = {};
  int rank = 0;
  std::string host = {};
  double began = 0;     // nanoseconds of the host's clock
  double together = 0;  // when all ranks were at the same place
};

// False: it is something else than the trace of a rank.
bool parse(std::ifstream& in, Trace& trace, const Json::parser_callback_t& keeps = nullptr) {
  try {
    Json all = Json::parse(in, keeps);
    const Json& other = all.at("otherData");
    trace.rank = other.at("rank");
    trace.host = other.at("host");
    trace.began = other.at("began");
    trace.together = other.at("together");
    trace.events = std::move(all.at("traceEvents"));
    for (const Json& event : trace.events) {
      if (const auto time = event.find("ts"); time != event.end()) static_cast<void>(time->get<double>());
    }
    return trace.rank >= 0;
  } catch (const Json::exception&) {
    return false;
  }
}

bool read(const std::string& file, Trace& trace) {
  std::ifstream in(file);
  if (!in) {
    base::warn("merge: %s: %s", file.c_str(), std::strerror(errno));
    return false;
  }
  if (parse(in, trace)) return true;
  base::warn("merge: %s is no trace of a rank (weft trace --mpi)", file.c_str());
  return false;
}

// As the first of the traces is where the name of the merged file was forgotten behind -o.
bool is_trace_of_rank(const std::string& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return false;
  // No event is kept, of which there may be many.
  constexpr int kDepth = 2;
  const auto keeps = [](int depth, Json::parse_event_t what, Json&) {
    return depth < kDepth || (what != Json::parse_event_t::object_start && what != Json::parse_event_t::array_start);
  };
  std::ifstream in(file);
  Trace trace;
  return parse(in, trace, keeps);
}

// How much later than `first` it began. Hosts have clocks of their own, which begin anywhere.
double microseconds_after(const Trace& first, const Trace& trace) {
  const double later = trace.host == first.host ? trace.began - first.began
                                                : (trace.began - trace.together) - (first.began - first.together);
  return later / 1e3;
}

}  // namespace

int merge(const std::vector<std::string>& traces, const std::string& into) {
  if (!are_apart("merge", {{"-o", into}}, traces)) return kUsage;
  if (is_trace_of_rank(into)) {
    base::warn(
        "merge: -o %s: is the trace of a rank, which is no place for what is merged; name another file behind -o",
        into.c_str());
    return kUsage;
  }
  ReportFile file("merge", "-o", into);
  if (!file.good()) return kFailed;
  Json events = Json::array();
  Trace first;
  std::set<int> ranks;
  for (const std::string& name : traces) {
    Trace trace;
    if (!read(name, trace)) return kFailed;
    if (!ranks.insert(trace.rank).second) {
      base::warn("merge: %s is of rank %d, as another one: are they of one run?", name.c_str(), trace.rank);
      return kFailed;
    }
    if (ranks.size() == 1) first = {.host = trace.host, .began = trace.began, .together = trace.together};
    const double later = microseconds_after(first, trace);
    for (Json& event : trace.events) {
      if (event.contains("ts")) event["ts"] = event["ts"].get<double>() + later;
      events.push_back(std::move(event));
    }
  }
  std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  const char* comma = "";
  for (const Json& event : events) {
    text += comma + event.dump(-1, ' ', false, Json::error_handler_t::replace);
    comma = ",\n";
  }
  text += "\n],\"otherData\":{\"ranks\":" + std::to_string(ranks.size()) + "}}\n";
  return file.write(text) ? 0 : kFailed;
}

}  // namespace weft::tools
