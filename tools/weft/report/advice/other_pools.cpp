// SPDX-License-Identifier: Apache-2.0
// Threads of other libraries that take the CPUs while members of regions want them.
#include <algorithm>
#include <map>

#include "report/advice/faults.h"
#include "report/wording/numbers.h"

namespace weft::tools::report {

namespace {

// Of all CPU time: what the others must have used, and what members must have waited for a CPU.
constexpr double kUsed = 0.10;
constexpr double kWaited = 0.05;
// Threads that are gone may have done work that somebody has to do all the same.
constexpr double kHalf = 0.5;

// By what is in the names of their threads, in small letters.
struct Library {
  const char* part;
  const char* name;
  const char* variable;
};
constexpr Library kLibraries[] = {
    {"openblas", "OpenBLAS", "OPENBLAS_NUM_THREADS"},
    {"mkl", "MKL", "MKL_NUM_THREADS"},
    {"blis", "BLIS", "BLIS_NUM_THREADS"},
    {"numexpr", "NumExpr", "NUMEXPR_NUM_THREADS"},
    {"rayon", "Rayon", "RAYON_NUM_THREADS"},
    {"polars", "Polars", "POLARS_MAX_THREADS"},
};

const Library* library_of(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const Library& library : kLibraries) {
    if (name.find(library.part) != std::string::npos) return &library;
  }
  return nullptr;
}

bool is_false(const std::optional<std::string>& value) {
  if (!value) return false;
  std::string text = *value;
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text == "false" || text == "0" || text == "no" || text == "off";
}

}  // namespace

void find_other_pools(Evidence& evidence) {
  // Threads of a region that nobody has told of look like others.
  if (evidence.run().unseen > 0) return;
  double used = 0;
  uint64_t threads = 0;
  std::map<std::string, double> by_name;
  for (const ThreadRow& row : evidence.report().threads) {
    if (row.whose != "other" || row.cpu <= 0) continue;
    used += row.cpu;
    ++threads;
    by_name[row.name] += row.cpu;
  }
  Evidence::Claim claim = {{}, {Loss::blocked}};
  int worst = 0;
  for (int site = 0; site < static_cast<int>(evidence.report().sites.size()); ++site) {
    claim.sites.push_back(site);
    if (evidence.left(site, Loss::blocked) > evidence.left(worst, Loss::blocked)) worst = site;
  }
  const double waited = evidence.left(claim);
  if (threads == 0 || used < kUsed * evidence.cpu_seconds() || waited < kWaited * evidence.cpu_seconds()) return;

  const auto greatest = std::max_element(by_name.begin(), by_name.end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; });
  const std::string name = printable(greatest->first);
  const Library* library = library_of(name);
  Advice advice;
  advice.kind = "other_pool";
  advice.site = worst;
  advice.title = (library != nullptr ? std::string("threads of ") + library->name : "threads that are not OpenMP's") +
                 " take the CPUs of the parallel regions";
  advice.evidence = format(
      "%s used %s of CPU time (%s)%s. Meanwhile threads of regions waited %s for a CPU, most of it "
      "in %s.",
      of_these(threads, "other thread").c_str(), seconds_text(used).c_str(),
      percent_text(used / evidence.cpu_seconds()).c_str(),
      name.empty() ? "" : (", most of it those called \"" + name + "\"").c_str(), seconds_text(waited).c_str(),
      site_text(evidence.site(worst)).c_str());
  if (is_false(evidence.setting("WEFT_ADOPT_LIBRARIES"))) {
    advice.action = "WEFT_ADOPT_LIBRARIES=" + printable(evidence.setting("WEFT_ADOPT_LIBRARIES").value_or("")) +
                    " leaves other libraries their own threads. Unset it: weft runs OpenBLAS and oneTBB on the threads "
                    "of the regions.";
    advice.command = run_without(evidence.run(), "WEFT_ADOPT_LIBRARIES");
  } else {
    advice.action =
        "Give that library one thread where it is called inside of regions. weft runs OpenMP, OpenBLAS and "
        "oneTBB on one set of threads (weft run); other libraries keep their own.";
    if (library != nullptr) {
      advice.command = std::string(library->variable) + "=1 weft report -- " + command_line(evidence.run());
    }
  }
  advice.gain = kHalf * as_time(std::min(used, waited), evidence.cpus());
  evidence.propose(advice, evidence.run().seconds, {claim});
}

}  // namespace weft::tools::report
