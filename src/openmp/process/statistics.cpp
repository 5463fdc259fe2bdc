// SPDX-License-Identifier: Apache-2.0
#include "openmp/settings/statistics.h"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>

#include <unistd.h>

#include "base/options.h"
#include "core/api/budget.h"
#include "core/api/fork.h"
#include "openmp/engine/engine.h"
#include "openmp/process/cpu_use.h"
#include "openmp/process/other_runtimes.h"
#include "openmp/settings/icv.h"
#include "openmp/settings/loop_statistics.h"

namespace weft::openmp {

namespace {

bool nothing_ran() noexcept { return g_regions[0].load() == 0 && g_callers_looked_up.load() == 0 && !core::started(); }

constexpr char kNothingRan[] = "  nothing ran on weft: it was loaded, and no parallel region has run\n";

// What users ask first: whether it ran on weft, what it used of the CPUs, who had the rest, and what to do.
size_t print_summary(char* text, size_t room) noexcept {
  if (nothing_ran()) return static_cast<size_t>(std::snprintf(text, room, "%s", kNothingRan));
  uint64_t inner = 0;
  for (size_t i = 1; i < g_regions.size(); ++i) inner += g_regions[i].load();
  const CpuUse use = cpu_use();
  const core::JobTokenUse tokens = core::job_token_use();
  // What make has held back was not the program's to use.
  const int cpus = tokens.takes_part ? tokens.most_cpus : core::started() ? core::slots() : num_procs();
  const double seconds = use.seconds > 0 ? use.seconds : 1;
  const double used = use.used / seconds;
  // More threads than CPUs wait for each other as well.
  const double delayed = std::clamp(use.delayed / seconds, 0.0, std::max(cpus - used, 0.0));
  size_t size = 0;
  const auto add = [&](const char* format, auto... values) {
    const int length = std::snprintf(text + size, room - size, format, values...);
    if (length > 0 && static_cast<size_t>(length) < room - size) size += static_cast<size_t>(length);
  };
  const auto say = [&](const char* words) { add("%s", words); };
  add("  it ran on weft; parallel regions: %" PRIu64 ", inside of these: %" PRIu64 "\n", g_regions[0].load(), inner);
  add("  %.3g s, %.2f of %d %s used", use.seconds, used, cpus, cpus == 1 ? "CPU" : "CPUs");
  // A part of the time that is worth a word.
  constexpr double kWorth = 0.05;
  if (delayed > kWorth * cpus) add("; %.2f CPUs were others' while threads of it could run", delayed);
  const double idle = cpus - used - delayed;
  if (idle > kWorth * cpus) add("; for %.2f it had no work: serial parts, and waiting for each other", idle);
  say("\n");
  if (tokens.takes_part) {
    add("  below make: at most %d %s at once by make's tokens; taken: %" PRIu64 "\n", cpus, cpus == 1 ? "CPU" : "CPUs",
        tokens.taken);
  }
  if (delayed > 2 * kWorth * cpus && !base::options().node) {
    say("  -> weft run --node PROGRAM: programs that run so share the CPUs\n");
  } else if (idle > 4 * kWorth * cpus) {
    say("  -> weft report PROGRAM: it says which lines leave CPUs without work\n");
  }
  say("  all counters: weft run --stats=all, WEFT_STATS=all\n");
  return size;
}

// The rest of a line, and more lines.
size_t print_core(char* text, size_t room) noexcept {
  if (nothing_ran()) return static_cast<size_t>(std::snprintf(text, room, "\n%s", kNothingRan));
  const core::Totals t = core::totals();
  return static_cast<size_t>(std::snprintf(
      text, room,
      "\n  members of woven teams started as calls: %" PRIu64 ", claimed by workers: %" PRIu64
      ", promoted (left their stack): %" PRIu64 "\n  steals: %" PRIu64 ", context switches: %" PRIu64
      ", parks: %" PRIu64 ", compensations: %" PRIu64 ", regions lent threads from their beginning: %" PRIu64
      "\n  OS threads that carry work: at most %d, %d of them late; identities beside theirs: at most %d, %d now, "
      "%d of them with an OS thread that is parked, %d ended\n"
      "  callers looked up: %" PRIu64 ", paths resolved: %" PRIu64 "\n",
      t.calls, t.claims, t.blocks, t.steals, t.switches, t.parks, t.compensations, t.regions_lent, t.peak_threads,
      t.late_threads, t.peak_donors, t.donors, t.donor_threads, t.donors_ended, g_callers_looked_up.load(),
      g_paths_resolved.load()));
}

// All counters.
size_t print_counters(char* text, size_t room) noexcept {
  int size = std::snprintf(text, room, "  regions by level:");
  int deepest = kCountedLevels;
  while (deepest > 1 && g_regions[static_cast<size_t>(deepest) - 1].load() == 0) --deepest;
  for (int i = 0; i < deepest; ++i) {
    size += std::snprintf(text + size, room - static_cast<size_t>(size), " %" PRIu64,
                          g_regions[static_cast<size_t>(i)].load());
  }
  const LoopStatistics& loops = g_loop_statistics;
  if (loops.regions.load() != 0) {
    size += std::snprintf(text + size, room - static_cast<size_t>(size),
                          "\n  regions that are one loop: %" PRIu64 ", run whole by their caller: %" PRIu64
                          "\n  iterations of them: %" PRIu64 ", in ranges: %" PRIu64 ", taken by others: %" PRIu64,
                          loops.regions.load(), loops.alone.load(), loops.iterations.load(), loops.ranges.load(),
                          loops.ranges_of_others.load());
  }
  if (loops.announced.load() + loops.left.load() != 0) {
    size += std::snprintf(text + size, room - static_cast<size_t>(size),
                          "\n  loops announced before plain regions: %" PRIu64
                          "\n  loops left to the standard interface: %" PRIu64 ", of a later weftcc: %" PRIu64,
                          loops.announced.load(), loops.left.load(), loops.later.load());
  }
  if (g_task_searches.load() != 0) {
    size += std::snprintf(text + size, room - static_cast<size_t>(size),
                          "\n  searches for tasks of others: %" PRIu64 ", deques looked at: %" PRIu64,
                          g_task_searches.load(), g_deques_searched.load());
  }
  if (g_engine_wanted) {
    size += std::snprintf(text + size, room - static_cast<size_t>(size),
                          "\n  regions that the engine has run: %" PRIu64, loops.on_engine.load());
  }
  return static_cast<size_t>(size) + print_core(text + size, room - static_cast<size_t>(size));
}

}  // namespace

void print_statistics() noexcept {
  char text[8192];
  int size =
      std::snprintf(text, sizeof text, "weft statistics: %s (process %d)\n", program_invocation_short_name, getpid());
  const auto room = [&] { return sizeof text - static_cast<size_t>(size); };
  size += base::options().stats == base::Stats::all ? static_cast<int>(print_counters(text + size, room()))
                                                    : static_cast<int>(print_summary(text + size, room()));
  size += static_cast<int>(list_other_runtimes(text + size, room()));
  if (write(STDERR_FILENO, text, static_cast<size_t>(size)) < 0) return;
}

}  // namespace weft::openmp
