// SPDX-License-Identifier: Apache-2.0
#include "top/program_table.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "report/wording/numbers.h"

namespace weft::tools {

namespace {

using report::format;

// Where the column of CPU time lies in a line.
constexpr size_t kCpuBegin = 13;
constexpr size_t kCpuEnd = 19;

std::string cells(size_t number, char filling) { return std::string(number, filling); }

// In five columns: "12345", "12.3k", "1234M".
std::string number_text(double number) {
  if (number < 99.95 && number != std::floor(number)) return format("%.1f", number);
  for (const char* unit : {"", "k", "M", "G", "T"}) {
    if (number < 9999.5 || (*unit == '\0' && number < 99999.5)) return format("%.0f%s", number, unit);
    number /= 1000;
  }
  return "many";
}

std::string part_text(double part) { return format("%.0f%%", 100 * part); }

// "42s", "12m34s", "3h05m", "12d3h".
std::string age_text(double seconds) {
  const auto whole = static_cast<int64_t>(std::max(seconds, 0.0));
  const auto of = [](int64_t number) { return static_cast<long long>(number); };
  if (whole < 60) return format("%llds", of(whole));
  if (whole < 3600) return format("%lldm%02llds", of(whole / 60), of(whole % 60));
  if (whole < 86400) return format("%lldh%02lldm", of(whole / 3600), of(whole / 60 % 60));
  return format("%lldd%lldh", of(whole / 86400), of(whole / 3600 % 24));
}

template <class Value, class Text>
std::string or_unknown(const std::optional<Value>& value, Text&& text) {
  return value ? text(static_cast<double>(*value)) : std::string("-");
}

std::string columns_of(const ProgramRow& row) {
  return format("%7d %4d %5s %4s %4s %6s %5s %4s %4d %6s", row.pid, row.usable(), part_text(row.cpus).c_str(),
                part_text(row.efficiency()).c_str(), or_unknown(row.work, part_text).c_str(),
                or_unknown(row.regions, number_text).c_str(), or_unknown(row.tasks, number_text).c_str(),
                or_unknown(row.messages, number_text).c_str(), row.threads, age_text(row.seconds).c_str());
}

}  // namespace

std::string bar_of(const ProgramRows& rows, int cpus, size_t width, const Colour& paint) {
  double weft = 0;
  for (const ProgramRow& row : rows.programs) weft += row.cpus;
  const std::string words = format("%.2f of %d CPUs on weft, %.2f others, %.2f idle", weft, cpus, rows.others,
                                   std::max(0.0, cpus - weft - rows.others));
  const size_t beside = words.size() + 4;
  if (width < beside + 4) return report::shortened(words, width);
  const size_t room = std::min<size_t>(width - beside, 32);
  const auto part = [&](double used) {
    return static_cast<size_t>(std::lround(std::clamp(used / std::max(cpus, 1), 0.0, 1.0) * static_cast<double>(room)));
  };
  const size_t on_weft = part(weft);
  const size_t busy = std::max(part(weft + rows.others), on_weft);
  return "[" + paint.good(cells(on_weft, '|')) + paint.faint(cells(busy - on_weft, 'o')) + cells(room - busy, ' ') +
         "]  " + words;
}

std::string titles_of(size_t width, const Colour& paint) {
  return paint.bold(report::shortened(format(" %7s %4s %5s %4s %4s %6s %5s %4s %4s %6s  %s", "PID", "CPUS", "CPU",
                                             "EFF", "WORK", "REG/S", "TASKS", "MSGS", "THRD", "AGE", "ON WEFT"),
                                      width));
}

std::string line_of(const ListedProcess& process, bool is_selected, size_t width, const Colour& paint) {
  const std::string numbers =
      process.program != nullptr ? columns_of(*process.program) : format("%7d %50s", process.pid, "");
  const std::string line = report::shortened(
      (is_selected ? ">" : " ") + numbers + "  " + process.branch + report::printable(process.command()), width);
  if (is_selected) return paint.reversed(report::padded(line, width));
  if (process.program == nullptr) return paint.faint(line);
  if (line.size() < kCpuEnd || process.program->cpus <= 0.05) return line;
  return line.substr(0, kCpuBegin) + paint.good(line.substr(kCpuBegin, kCpuEnd - kCpuBegin)) + line.substr(kCpuEnd);
}

const char* nobody_of(const std::string& filter) {
  return filter.empty() ? "  no process runs on weft" : "  no process fits the filter";
}

std::string others_of(const ProgramRows& rows, const std::string& more, size_t width) {
  std::string used = format("%19s  all others", part_text(rows.others).c_str());
  if (!rows.busiest.empty()) used += ": " + report::printable(shown(rows.busiest));
  return report::shortened(more.empty() ? used : used + "   " + more, width);
}

std::vector<std::string> notes_of(const std::vector<ListedProcess>& listed, int yama, size_t width) {
  const auto any = [&](RecordState state) {
    return std::any_of(listed.begin(), listed.end(), [state](const ListedProcess& process) {
      return process.program != nullptr && process.program->record == state;
    });
  };
  std::vector<std::string> notes;
  const auto add = [&](const std::string& note) { notes.push_back(report::shortened(note, width)); };
  if (any(RecordState::forbidden) && yama > 0)
    add(format("  - : kernel.yama.ptrace_scope is %d, so only root can read other processes", yama));
  if (any(RecordState::forbidden) && yama <= 0) add("  - : the kernel does not let this user read the process");
  if (any(RecordState::other_version)) add("  - : on another version of weft: ask that version's `weft top`");
  return notes;
}

}  // namespace weft::tools
