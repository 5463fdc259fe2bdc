// SPDX-License-Identifier: Apache-2.0
#include "merge.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>

#include <nlohmann/json.hpp>

#include "base/message.h"

namespace weft::tools {

namespace {

using Json = nlohmann::json;

constexpr int kFailed = 1;

struct Trace {
  Json events = {};
  int rank = 0;
  std::string host = {};
  double began = 0;     // nanoseconds of the host's clock
  double together = 0;  // when all ranks were at the same place
};

bool read(const std::string& file, Trace& trace) {
  std::ifstream in(file);
  if (!in) {
    base::warn("merge: %s: %s", file.c_str(), std::strerror(errno));
    return false;
  }
  Json all = Json::parse(in, nullptr, false);
  const Json other = all.is_object() ? all.value("otherData", Json()) : Json();
  if (!other.is_object() || !all.contains("traceEvents") || !all["traceEvents"].is_array() ||
      other.value("rank", -1) < 0) {
    base::warn("merge: %s is no trace of a rank (weft trace --mpi)", file.c_str());
    return false;
  }
  trace = {.events = std::move(all["traceEvents"]),
           .rank = other["rank"],
           .host = other.value("host", ""),
           .began = other.value("began", 0.0),
           .together = other.value("together", 0.0)};
  return true;
}

// How much later than `first` it began. Hosts have clocks of their own, which begin anywhere.
double microseconds_after(const Trace& first, const Trace& trace) {
  const double later = trace.host == first.host ? trace.began - first.began
                                                : (trace.began - trace.together) - (first.began - first.together);
  return later / 1e3;
}

}  // namespace

int merge(const std::vector<std::string>& traces, const std::string& into) {
  Json events = Json::array();
  Trace first;
  std::set<int> ranks;
  for (const std::string& file : traces) {
    Trace trace;
    if (!read(file, trace)) return kFailed;
    if (!ranks.insert(trace.rank).second) {
      base::warn("merge: %s is of rank %d, as another one: are they of one run?", file.c_str(), trace.rank);
      return kFailed;
    }
    if (ranks.size() == 1) first = {.host = trace.host, .began = trace.began, .together = trace.together};
    const double later = microseconds_after(first, trace);
    for (Json& event : trace.events) {
      if (event.contains("ts")) event["ts"] = event["ts"].get<double>() + later;
      events.push_back(std::move(event));
    }
  }
  std::ofstream out(into);
  out << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  const char* comma = "";
  for (const Json& event : events) {
    out << comma << event.dump(-1, ' ', false, Json::error_handler_t::replace);
    comma = ",\n";
  }
  out << "\n],\"otherData\":{\"ranks\":" << ranks.size() << "}}\n";
  out.close();
  if (out) return 0;
  base::warn("merge: %s: %s", into.c_str(), std::strerror(errno));
  return kFailed;
}

}  // namespace weft::tools
