// SPDX-License-Identifier: Apache-2.0
#include "report/trace/trace.h"

#include <fstream>
#include <map>
#include <set>

#include <sys/stat.h>

#include "report/profile/profile.h"
#include "report/trace/contexts.h"
#include "report/trace/sweep.h"
#include "report/trace/trace_file.h"
#include "report/wording/numbers.h"
#include "symbols/symbols.h"

namespace weft::tools::report {

namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

std::string text_of(const Json& run, const char* name) {
  const auto found = run.find(name);
  return found != run.end() && found->is_string() ? found->get<std::string>() : "";
}

InRuntime in_runtime(const Trace& trace, const fs::path& folder) {
  const fs::path maps = folder / "maps";
  std::ofstream(maps) << text_of(trace.run, "maps");
  const auto symbols = read_symbols(maps);
  const auto runtime = trace.run.find("runtime");
  InRuntime within(trace.places.size(), false);
  if (runtime == trace.run.end() || !runtime->is_number_unsigned()) return within;
  const std::string object = symbols->find(*runtime).object;
  for (size_t i = 1; i < within.size() && !object.empty(); ++i) {
    within[i] = symbols->find(trace.places[i].address).object == object;
  }
  return within;
}

// Lines are those of the files as they are now.
void note_changed_objects(Report& report, double unix_began) {
  std::set<std::string> objects;
  for (const Site& site : report.sites) {
    if (site.place.object.rfind('/', 0) == 0) objects.insert(site.place.object);
  }
  for (const std::string& object : objects) {
    struct stat status{};
    const bool is_there = stat(object.c_str(), &status) == 0;
    if (is_there && static_cast<double>(status.st_mtime) <= unix_began + 1) continue;
    report.run.notes.push_back(printable(object) +
                               (is_there ? " was changed after the trace was written: its lines may be wrong."
                                         : " is not there any more: its lines are not known."));
  }
}

std::string left_out_text(const std::map<std::string, uint64_t>& kinds) {
  constexpr size_t kMostNamed = 4;
  uint64_t all = 0;
  uint64_t named = 0;
  size_t number = 0;
  std::string list;
  for (const auto& [kind, count] : kinds) {
    all += count;
    if (++number > kMostNamed) continue;
    named += count;
    list += (number == 1 ? "" : ", ") + count_text(count) + " " + printable(kind);
  }
  if (named < all) list += ", " + count_text(all - named) + " of other kinds";
  return of_these(all, "event") + " of the trace could not be used in full (" + list +
         "): that time counts as time of what is around.";
}

}  // namespace

Report report_of_trace(const fs::path& file, const fs::path& folder) {
  const Trace trace = read_trace(file);
  const Json profile = profile_of(trace, contexts_of(trace), in_runtime(trace, folder));
  Report report = report_of_profile(profile, folder);
  report.run.is_trace = true;
  std::vector<std::string>& notes = report.run.notes;
  notes.push_back("Made of a trace, " + printable(file.filename()) +
                  ": each event counts. Time in the runtime between events, as where chunks are dealt out and tasks "
                  "made, counts as work.");
  const double blocked = profile.at("blocked_part");
  if (blocked > 0) {
    notes.push_back("Its threads have had " + percent_text(blocked) +
                    " less CPU time than they seemed to work. A trace does not tell where: all work counts as blocked "
                    "for that part. A run by weft report tells.");
  }
  note_changed_objects(report, profile.at("began"));
  if (trace.lost > 0) {
    notes.push_back(count_text(trace.lost) + " events are not in the trace: there was no memory for them.");
  }
  if (trace.is_cut_off) {
    notes.push_back(
        "The trace was written while the program ran, which has not come to its end: what happened later is "
        "not in it.");
  }
  // First: other figures are less certain then.
  if (!trace.left_out.empty()) notes.insert(notes.begin(), left_out_text(trace.left_out));
  return report;
}

}  // namespace weft::tools::report
