// SPDX-License-Identifier: Apache-2.0
#include "merge.h"

#include <cerrno>
#include <cstring>
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

// Throws when there is something else than a trace.
void parse(std::ifstream& in, Trace& trace) {
  Json all = Json::parse(in);
  const Json& other = all.at("otherData");
  trace.rank = other.at("rank");
  trace.host = other.at("host");
  trace.began = other.at("began");
  trace.together = other.at("together");
  trace.events = std::move(all.at("traceEvents"));
  for (const Json& event : trace.events) {
    if (const auto time = event.find("ts"); time != event.end()) static_cast<void>(time->get<double>());
  }
}

bool read(const std::string& file, Trace& trace) {
  std::ifstream in(file);
  if (!in) {
    base::warn("merge: %s: %s", file.c_str(), std::strerror(errno));
    return false;
  }
  try {
    parse(in, trace);
    if (trace.rank >= 0) return true;
  } catch (const Json::exception&) {
  }
  base::warn("merge: %s is no trace of a rank (weft trace --mpi)", file.c_str());
  return false;
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
