// SPDX-License-Identifier: Apache-2.0
#include "report/ranks.h"

#include <map>
#include <stdexcept>
#include <utility>

#include "report/json.h"
#include "report/merge.h"

namespace weft::tools {

namespace {

using report::Report;

std::string begun(std::string text) {
  if (!text.empty() && text[0] == 'r') text[0] = 'R';
  return text;
}

// "Rank 3 ..." and "Ranks 3 and 4 ...".
void note(std::vector<std::string>& notes, const std::vector<int>& ranks, const std::string& what) {
  if (!ranks.empty()) notes.push_back(begun(report::ranks_text(ranks)) + what);
}

// Ranks that are not bound count the CPUs of others as theirs.
void note_shared_cpus(const RankParts& found, const std::vector<Report>& reports, std::vector<std::string>& notes) {
  std::map<std::string, std::pair<int, int>> hosts;  // CPUs that its ranks count, and that it has
  for (const RankPart& part : found.parts) hosts[part.host].second = part.host_cpus;
  for (const Report& each : reports) hosts[each.run.host].first += each.run.cpus;
  for (const auto& [host, cpus] : hosts) {
    if (cpus.second == 0 || cpus.first <= cpus.second) continue;
    notes.push_back("The ranks on " + host + " count " + std::to_string(cpus.first) + " CPUs together, and it has " +
                    std::to_string(cpus.second) +
                    ": they share them, so that less was lost than it seems. Bind the ranks (mpirun --bind-to), or give "
                    "each fewer threads.");
  }
}

std::string failed_text(const RankParts& found) {
  if (found.failed < 0) return "others had ended";
  for (const RankPart& part : found.parts) {
    if (part.rank != found.failed) continue;
    return "rank " + std::to_string(part.rank) + " ended with code " + std::to_string(part.exit_code);
  }
  return "rank " + std::to_string(found.failed) + " failed";
}

}  // namespace

std::optional<Report> report_of_ranks(const RankParts& found, std::vector<std::string>* notes) {
  std::vector<Report> reports;
  std::map<std::string, std::vector<int>> reasons;
  std::vector<int> early;
  for (const RankPart& part : found.parts) {
    if (part.report.empty()) {
      reasons[part.why].push_back(part.rank);
      continue;
    }
    try {
      reports.push_back(report::report_from_json(part.report));
      if (part.is_early) early.push_back(part.rank);
    } catch (const std::runtime_error& fault) {
      reasons[fault.what()].push_back(part.rank);
    }
  }
  for (const auto& [why, ranks] : reasons) note(*notes, ranks, (ranks.size() > 1 ? " have" : " has") +
                                                                  std::string(" left no report: ") + why + ".");
  note(*notes, early, " still ran when " + failed_text(found) + ", and " + (early.size() > 1 ? "are" : "is") +
                          " shown as until then.");
  note(*notes, found.running, (found.running.size() > 1 ? " have" : " has") +
                                  std::string(" left no report: the program still ran there when ") +
                                  failed_text(found) + ".");
  note(*notes, found.gone, (found.gone.size() > 1 ? " have" : " has") +
                               std::string(" left no report: weft report was killed there."));
  note(*notes, found.unseen, (found.unseen.size() > 1 ? " have" : " has") +
                                 std::string(" not been seen: weft report did not run there with this page, or the "
                                             "page's folder there is on another file system."));
  if (reports.empty()) return std::nullopt;
  note_shared_cpus(found, reports, *notes);
  return report::merge(std::move(reports));
}

}  // namespace weft::tools
