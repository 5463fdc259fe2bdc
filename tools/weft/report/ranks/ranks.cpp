// SPDX-License-Identifier: Apache-2.0
#include "report/ranks/ranks.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "platform/cpu_set.h"
#include "report/json/json.h"
#include "report/ranks/merge.h"

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

// Ranks of a node that have CPUs in common, directly or by others of them.
struct Sharing {
  std::vector<size_t> ranks;  // their places among the reports
  platform::CpuSet cpus;
  int counted = 0;
  double used = 0;
};

using SharingByNode = std::map<std::string, std::vector<Sharing>>;

SharingByNode sharings_of(const std::vector<Report>& reports, const std::vector<std::string>& cpus) {
  SharingByNode nodes;
  for (size_t i = 0; i < reports.size(); ++i) {
    std::vector<Sharing>& known = nodes[reports[i].run.host];
    Sharing all{
        {i}, platform::parse_cpu_list(cpus[i].c_str()), reports[i].run.cpus, report::cpu_seconds_of(reports[i])};
    const auto apart = std::partition(known.begin(), known.end(), [&](const Sharing& each) {
      platform::CpuSet common = each.cpus;
      common.keep_only(all.cpus);
      return common.empty();
    });
    for (auto each = apart; each != known.end(); ++each) {
      all.ranks.insert(all.ranks.end(), each->ranks.begin(), each->ranks.end());
      all.cpus.add_all(each->cpus);
      all.counted += each->counted;
      all.used += each->used;
    }
    known.erase(apart, known.end());
    known.push_back(std::move(all));
  }
  return nodes;
}

// Ranks that are not bound count the CPUs of others as theirs. To each of them the others are processes that use them.
void judge_shared_cpus(std::vector<Report>& reports, const std::vector<std::string>& cpus,
                       std::vector<std::string>& notes) {
  for (const auto& [name, sharings] : sharings_of(reports, cpus)) {
    int counted = 0;
    int has = 0;
    for (const Sharing& sharing : sharings) {
      if (sharing.counted <= sharing.cpus.count()) continue;
      counted += sharing.counted;
      has += sharing.cpus.count();
      for (const size_t i : sharing.ranks) {
        report::Run& run = reports[i].run;
        run.others_cpu = std::max(0.0, run.others_cpu - (sharing.used - report::cpu_seconds_of(reports[i])));
      }
    }
    if (counted == 0) continue;
    notes.push_back("The ranks on " + name + " count " + std::to_string(counted) + " CPUs together, and may use " +
                    std::to_string(has) +
                    ": they share them, so that less was lost than it seems. Bind the ranks to CPUs of their own "
                    "(mpirun --bind-to), or give each fewer threads.");
  }
}

// With --node the others of a rank are ranks of the job too, which are in the report.
void leave_out_own_ranks(std::vector<Report>& reports) {
  std::map<std::string, int> sharing;
  for (const Report& each : reports) sharing[each.run.host] += each.run.node.others > 0 ? 1 : 0;
  for (Report& each : reports) {
    int& others = each.run.node.others;
    if (others > 0) others = std::max(0, others - (sharing[each.run.host] - 1));
  }
}

// One job may consist of several programs (mpirun's `:`). Otherwise something is wrong, which only its user knows.
void note_programs(const RankParts& found, std::vector<std::string>& notes) {
  std::map<std::string, std::vector<int>> programs;
  for (const RankPart& part : found.parts) programs[part.program].push_back(part.rank);
  if (programs.size() < 2) return;
  std::string text;
  for (const auto& [program, ranks] : programs) {
    text += (text.empty() ? "" : ", ") + report::ranks_text(ranks) + " " + program;
  }
  notes.push_back("The ranks ran different programs: " + text + ".");
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
  std::vector<std::string> cpus;
  std::map<std::string, std::vector<int>> reasons;
  std::vector<int> early;
  for (const RankPart& part : found.parts) {
    if (part.report.empty()) {
      reasons[part.why].push_back(part.rank);
      continue;
    }
    try {
      reports.push_back(report::report_from_json(part.report));
      cpus.push_back(part.cpus);
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
  note_programs(found, *notes);
  judge_shared_cpus(reports, cpus, *notes);
  leave_out_own_ranks(reports);
  return report::merge(std::move(reports));
}

}  // namespace weft::tools
