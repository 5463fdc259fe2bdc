// SPDX-License-Identifier: Apache-2.0
#include "report/advice/advice.h"

#include "report/advice/faults.h"
#include "report/ranks/merge.h"
#include "report/wording/numbers.h"

namespace weft::tools::report {

// The same lost seconds may look like several faults. They go to the first of these that explains them: causes that can
// be named exactly come before those that fit whenever something waits.
namespace {

// What other processes take makes threads wait for each other. That is no fault of the program.
void note_blocked(const Evidence& evidence, std::vector<std::string>& notes) {
  double blocked = 0;
  for (int site = 0; site < static_cast<int>(evidence.report().sites.size()); ++site) {
    blocked += evidence.left(site, Loss::blocked);
  }
  const double others = evidence.run().others_cpu;
  if (others > kMuch * evidence.cpu_seconds()) {
    notes.push_back(
        format("Other processes used %s of the CPUs' time meanwhile (%s of all). On a quiet machine the figures are "
               "other ones.",
               seconds_text(others).c_str(), percent_text(others / evidence.cpu_seconds()).c_str()));
    return;
  }
  const double part = evidence.cpu_seconds() > 0 ? blocked / evidence.cpu_seconds() : 0;
  if (part < kMuch) return;
  notes.push_back(
      format("Threads that had work were without a CPU for %s (%s of the time of all CPUs): other processes "
             "ran there, or the threads slept. On a quiet machine the figures are other ones.",
             seconds_text(blocked).c_str(), percent_text(part).c_str()));
}

}  // namespace

std::vector<Advice> advise(const Report& report, std::vector<std::string>* notes) {
  // Of a program that stands still its figures say nothing.
  if (has_stood_still(report.run)) return {};
  // What a rank should change is told by what a rank did: gains are of its time, and its CPUs are those of its regions.
  if (report.ranks.size() > 1) return advise(mean_rank(report), notes);
  Evidence evidence(report);
  find_nested_serial(evidence);
  find_small_tasks(evidence);
  find_small_chunks(evidence);
  find_short_regions(evidence);
  find_held_locks(evidence);
  find_single_regions(evidence);
  find_few_threads(evidence);
  find_uneven_loops(evidence);
  find_serial_parts(evidence);
  find_other_pools(evidence);
  find_memory_on_one_node(evidence);
  if (notes != nullptr) {
    notes->insert(notes->end(), evidence.notes().begin(), evidence.notes().end());
    note_blocked(evidence, *notes);
  }
  return evidence.take_advice();
}

}  // namespace weft::tools::report
