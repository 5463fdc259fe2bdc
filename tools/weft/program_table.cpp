// SPDX-License-Identifier: Apache-2.0
#include "program_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "colour.h"
#include "report/wording/numbers.h"

namespace weft::tools {

namespace {

// The largest number first, the first name first; where rows are alike the smallest PID.
bool is_before(const ProgramRow& a, const ProgramRow& b, TableOrder order) {
  switch (order) {
    case TableOrder::cpu:
      if (a.cpus != b.cpus) return a.cpus > b.cpus;
      break;
    case TableOrder::threads:
      if (a.threads != b.threads) return a.threads > b.threads;
      break;
    case TableOrder::seconds:
      if (a.seconds != b.seconds) return a.seconds > b.seconds;
      break;
    case TableOrder::name:
      if (a.name != b.name) return a.name < b.name;
      break;
    case TableOrder::pid: break;
  }
  return a.pid < b.pid;
}

template <class... Values>
std::string line_of(const char* format, Values... values) {
  std::array<char, 160> line{};
  std::snprintf(line.data(), line.size(), format, values...);
  return line.data();
}

// "[|||||ooo   ]  1.20 of 2 CPUs on weft, 0.55 others, 0.25 idle"
std::string bar_of(double weft, double others, int cpus, const Colour& colour) {
  constexpr int kWidth = 32;
  const auto cells = [&](double used) {
    return static_cast<int>(std::lround(std::clamp(used / std::max(cpus, 1), 0.0, 1.0) * kWidth));
  };
  const int on_weft = cells(weft);
  const int of_others = std::clamp(cells(weft + others) - on_weft, 0, kWidth - on_weft);
  const auto count = [](int number) { return static_cast<size_t>(number); };
  return "[" + colour.good(std::string(count(on_weft), '|')) + colour.faint(std::string(count(of_others), 'o')) +
         std::string(count(kWidth - on_weft - of_others), ' ') + "]  " +
         line_of("%.2f of %d CPUs on weft, %.2f others, %.2f idle", weft, cpus, others,
                 std::max(0.0, cpus - weft - others));
}

}  // namespace

bool is_order(char key) { return std::string_view("cpnts").find(key) != std::string_view::npos; }

std::string table_of(ProgramRows rows, int cpus, TableOrder order, bool colour, std::string_view line_end) {
  const Colour paint(colour);
  std::sort(rows.programs.begin(), rows.programs.end(),
            [&](const ProgramRow& a, const ProgramRow& b) { return is_before(a, b, order); });
  std::string text;
  const auto add = [&](const std::string& line) { text.append(line).append(line_end).append("\n"); };
  double weft = 0;
  for (const ProgramRow& row : rows.programs) weft += row.cpus;
  add(bar_of(weft, rows.others, cpus, paint));
  add(paint.bold(line_of("%8s  %-16s %7s %7s %8s %7s", "PID", "ON WEFT", "CPUS", "THREADS", "SECONDS", "CPU")));
  for (const ProgramRow& row : rows.programs) {
    const std::string used = line_of("%6.0f%%", 100 * row.cpus);
    add(line_of("%8d  %-16.16s %7d %7d %8.0f ", row.pid, report::printable(row.name).c_str(), row.allowed, row.threads,
                row.seconds) +
        (row.cpus > 0.05 ? paint.good(used) : used));
  }
  if (rows.programs.empty()) add("          no process runs on weft");
  add(line_of("          all others %37s %5.0f%%", "", 100 * rows.others));
  return text;
}

}  // namespace weft::tools
