// SPDX-License-Identifier: Apache-2.0
#include "report/ranks.h"

#include <algorithm>
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

double cpu_of(const Report& each) {
  double sum = 0;
  for (const report::ThreadRow& thread : each.threads) sum += thread.cpu;
  return sum;
}

// Ranks that are not bound count the CPUs of others as theirs. To each of them the others are processes that use them.
void judge_shared_cpus(const RankParts& found, std::vector<Report>& reports, std::vector<std::string>& notes) {
  struct Host {
    int has = 0;
    int counted = 0;
    double used = 0;
  };
  std::map<std::string, Host> hosts;
  for (const RankPart& part : found.parts) hosts[part.host].has = part.host_cpus;
  for (const Report& each : reports) {
    hosts[each.run.host].counted += each.run.cpus;
    hosts[each.run.host].used += cpu_of(each);
  }
  for (Report& each : reports) {
    const Host& host = hosts[each.run.host];
    if (host.has == 0 || host.counted <= host.has) continue;
    each.run.others_cpu = std::max(0.0, each.run.others_cpu - (host.used - cpu_of(each)));
  }
  for (const auto& [name, host] : hosts) {
    if (host.has == 0 || host.counted <= host.has) continue;
    notes.push_back("The ranks on " + name + " count " + std::to_string(host.counted) + " CPUs together, and it has " +
                    std::to_string(host.has) +
                    ": they share them, so that less was lost than it seems. Bind the ranks to CPUs of their own "
                    "(mpirun --bind-to), or give each fewer threads.");
  }
}

std::string failed_text(const RankParts& found) {
  if (found.failed < 0) return "others had ended";
  for (const RankPart& part : found.parts) {
    if (part.rank != found.failed) continue;
    if (part.exit_code == 0) return "rank " + std::to_string(part.rank) + " had ended without MPI_Finalize";
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
  for (const auto& [why, ranks] : reasons)
    note(*notes, ranks, (ranks.size() > 1 ? " have" : " has") + std::string(" left no report: ") + why + ".");
  note(
      *notes, early,
      " still ran when " + failed_text(found) + ", and " + (early.size() > 1 ? "are" : "is") + " shown as until then.");
  note(*notes, found.running,
       (found.running.size() > 1 ? " have" : " has") +
           std::string(" left no report: the program still ran there when ") + failed_text(found) + ".");
  note(*notes, found.gone,
       (found.gone.size() > 1 ? " have" : " has") + std::string(" left no report: weft report was killed there."));
  note(*notes, found.unseen,
       (found.unseen.size() > 1 ? " have" : " has") +
           std::string(" not been seen: weft report did not run there with this page, or the "
                       "page's folder there is on another file system."));
  if (reports.empty()) return std::nullopt;
  judge_shared_cpus(found, reports, *notes);
  return report::merge(std::move(reports));
}

}  // namespace weft::tools
