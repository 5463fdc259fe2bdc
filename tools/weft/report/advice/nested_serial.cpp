// SPDX-License-Identifier: Apache-2.0
// Inner regions that have one member since nested parallelism is switched off, while CPUs have nothing to do.
#include <algorithm>
#include <charconv>
#include <set>

#include "report/advice/faults.h"
#include "report/model/tree.h"
#include "report/wording/numbers.h"

namespace weft::tools::report {

namespace {

// Of the idle time, that more threads inside would use.
constexpr double kUsed = 0.7;
// The work of the region around must be in the inner regions, or what it waits for is something else.
constexpr double kMostWork = 0.5;

bool is_word(const std::string& text, const char* word) {
  return std::equal(text.begin(), text.end(), word, word + std::char_traits<char>::length(word),
                    [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
}

bool is_number(const std::string& text, int& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// The last entry of a list holds for deeper levels, too; a single one for all of them.
bool asks_for_one(const std::string& list, int depth) {
  size_t at = 0;
  for (int level = 0; level < depth; ++level) {
    const size_t comma = list.find(',', at);
    if (comma == std::string::npos) break;
    at = comma + 1;
  }
  int threads = 0;
  return at > 0 && is_number(list.substr(at, list.find(',', at) - at), threads) && threads == 1;
}

// The variable that keeps regions at this depth serial; empty: none does.
std::string variable(const Evidence& evidence, int depth, int requested) {
  const auto threads = evidence.setting("OMP_NUM_THREADS");
  // It was not asked for more.
  if (requested == 1) return threads && asks_for_one(*threads, depth) ? "OMP_NUM_THREADS" : "";
  int levels = 0;
  const auto most = evidence.setting("OMP_MAX_ACTIVE_LEVELS");
  if (most && is_number(*most, levels) && levels <= depth) return "OMP_MAX_ACTIVE_LEVELS";
  const auto nested = evidence.setting("OMP_NESTED");
  if (!most && nested && (is_word(*nested, "false") || *nested == "0")) return "OMP_NESTED";
  return requested == 0 && threads && asks_for_one(*threads, depth) ? "OMP_NUM_THREADS" : "";
}

void judge(Evidence& evidence, const Construct& inner) {
  const Site& sum = inner.sum;
  if (inner.depth == 0 || sum.members > 1 || sum.count == 0) return;
  const std::string name = variable(evidence, inner.depth, sum.requested);
  if (name.empty() && sum.requested <= 1) return;
  const std::vector<int> within = evidence.within(inner);
  std::set<int> regions;
  for (const int site : inner.sites) {
    for (int region = region_around(evidence.report(), parent_of(evidence.report(), site)); region > 0;
         region = region_around(evidence.report(), parent_of(evidence.report(), region))) {
      regions.insert(region);
    }
  }
  // Idle CPUs are charged to what is inside, and, where members of the regions around wait, to the loops of these. The
  // latter say something of the inner region only where there is little else.
  std::vector<int> idle = within;
  std::set<int> all;
  for (const int region : regions) {
    for (const int site : sites_within(evidence.report(), region)) all.insert(site);
  }
  if (evidence.useful(within) >= kMostWork * evidence.useful({all.begin(), all.end()})) {
    std::copy_if(all.begin(), all.end(), std::back_inserter(idle),
                 [&](int site) { return regions.count(region_around(evidence.report(), site)) != 0; });
    std::sort(idle.begin(), idle.end());
    idle.erase(std::unique(idle.begin(), idle.end()), idle.end());
  }
  const Evidence::Claim claim = {idle, {Loss::imbalance, Loss::few_threads}};
  const double lost = evidence.left(claim);
  if (lost <= 0) return;

  Advice advice;
  advice.kind = "nested_serial";
  advice.site = inner.worst;
  advice.title = site_text(evidence.site(inner.worst)) + " runs with one thread, since it is inside another one";
  advice.evidence =
      format("It ran %s%s. Meanwhile CPUs were idle: %s of CPU time, %s of all.", of_these(sum.count, "time").c_str(),
             sum.requested > 1 ? format(" and asked for %d threads", sum.requested).c_str() : "",
             seconds_text(lost).c_str(), percent_text(lost / evidence.cpu_seconds()).c_str());
  if (name.empty()) {
    advice.action =
        "Take out the call of omp_set_max_active_levels or omp_set_nested that switches nested regions off, "
        "or raise the limit of threads (OMP_THREAD_LIMIT, thread_limit).";
    advice.command = "omp_set_max_active_levels(" + std::to_string(inner.depth + 1) + ");";
  } else {
    advice.action = format(
        "%s=%s does not let it have more. Unset it: weft runs nested regions on the CPUs that are "
        "idle, and not with more threads than CPUs.",
        name.c_str(), printable(evidence.setting(name.c_str()).value_or("")).c_str());
    advice.command = run_without(evidence.run(), name);
  }
  advice.gain = kUsed * as_time(lost, evidence.cpus());
  evidence.propose(advice, sum.wall, {claim});
}

}  // namespace

void find_nested_serial(Evidence& evidence) {
  for (const Construct& construct : evidence.constructs()) {
    if (construct.sum.kind == SiteKind::region) judge(evidence, construct);
  }
}

}  // namespace weft::tools::report
