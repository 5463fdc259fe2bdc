// SPDX-License-Identifier: Apache-2.0
#include "openmp/settings/statistics.h"

#include <cerrno>
#include <cinttypes>
#include <cstdio>

#include <unistd.h>

#include "core/api/budget.h"
#include "openmp/engine/engine.h"
#include "openmp/process/other_runtimes.h"
#include "openmp/settings/loop_statistics.h"

namespace weft::openmp {

namespace {

// What a program that has opened no region has of it.
size_t print_core(char* text, size_t room) noexcept {
  const bool none = g_regions[0].load() == 0 && g_callers_looked_up.load() == 0;
  if (none && !core::started()) {
    return static_cast<size_t>(
        std::snprintf(text, room, "\n  nothing ran on weft: it was loaded, and no parallel region has run\n"));
  }
  const core::Totals t = core::totals();
  return static_cast<size_t>(std::snprintf(
      text, room,
      "\n  members of woven teams started as calls: %" PRIu64 ", claimed by workers: %" PRIu64
      ", promoted (left their stack): %" PRIu64 "\n  steals: %" PRIu64 ", context switches: %" PRIu64
      ", parks: %" PRIu64 ", compensations: %" PRIu64 ", regions lent threads from their beginning: %" PRIu64
      "\n  OS threads that carry work: at most %d, %d of them late; that are parked and lend their identities: at most "
      "%d, "
      "%d now, %d ended\n"
      "  callers looked up: %" PRIu64 ", paths resolved: %" PRIu64 "\n",
      t.calls, t.claims, t.blocks, t.steals, t.switches, t.parks, t.compensations, t.regions_lent, t.peak_threads,
      t.late_threads, t.peak_donors, t.donors, t.donors_ended, g_callers_looked_up.load(), g_paths_resolved.load()));
}

}  // namespace

void print_statistics() noexcept {
  char text[8192];
  int size =
      std::snprintf(text, sizeof text,
                    "weft statistics: %s (process %d)\n  regions by level:", program_invocation_short_name, getpid());
  int deepest = kCountedLevels;
  while (deepest > 1 && g_regions[static_cast<size_t>(deepest) - 1].load() == 0) --deepest;
  const auto room = [&] { return sizeof text - static_cast<size_t>(size); };
  for (int i = 0; i < deepest; ++i) {
    size += std::snprintf(text + size, room(), " %" PRIu64, g_regions[static_cast<size_t>(i)].load());
  }
  const LoopStatistics& loops = g_loop_statistics;
  if (loops.regions.load() != 0) {
    size += std::snprintf(text + size, room(),
                          "\n  regions that are one loop: %" PRIu64 ", run whole by their caller: %" PRIu64
                          "\n  iterations of them: %" PRIu64 ", in ranges: %" PRIu64 ", taken by others: %" PRIu64,
                          loops.regions.load(), loops.alone.load(), loops.iterations.load(), loops.ranges.load(),
                          loops.ranges_of_others.load());
  }
  if (loops.announced.load() + loops.left.load() != 0) {
    size += std::snprintf(text + size, room(),
                          "\n  loops announced before plain regions: %" PRIu64
                          "\n  loops left to the standard interface: %" PRIu64 ", of a later weftcc: %" PRIu64,
                          loops.announced.load(), loops.left.load(), loops.later.load());
  }
  if (g_task_searches.load() != 0) {
    size +=
        std::snprintf(text + size, room(), "\n  searches for tasks of others: %" PRIu64 ", deques looked at: %" PRIu64,
                      g_task_searches.load(), g_deques_searched.load());
  }
  if (g_engine_wanted) {
    size += std::snprintf(text + size, room(), "\n  regions that the engine has run: %" PRIu64, loops.on_engine.load());
  }
  size += static_cast<int>(print_core(text + size, room()));
  size += static_cast<int>(list_other_runtimes(text + size, room()));
  if (write(STDERR_FILENO, text, static_cast<size_t>(size)) < 0) return;
}

}  // namespace weft::openmp
