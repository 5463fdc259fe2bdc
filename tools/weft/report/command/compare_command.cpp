// SPDX-License-Identifier: Apache-2.0
#include "report/command/compare_command.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>

#include <unistd.h>

#include "base/message.h"
#include "exit_codes.h"
#include "report/command/files.h"
#include "report/compare/compare.h"
#include "report/json/json.h"
#include "report_file.h"
#include "terminal.h"

namespace weft::tools {

namespace {

using report::Report;

std::optional<Report> read(const std::string& name) {
  std::ifstream in(name, std::ios::binary);
  if (!in) {
    base::warn("compare: %s: %s", name.c_str(), std::strerror(errno));
    return std::nullopt;
  }
  try {
    return report::report_from_json({std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()});
  } catch (const std::runtime_error& fault) {
    base::warn("compare: %s: %s", name.c_str(), fault.what());
    return std::nullopt;
  }
}

bool read_all(const std::vector<std::string>& names, std::vector<Report>& reports) {
  for (const std::string& name : names) {
    std::optional<Report> read_one = read(name);
    if (!read_one) return false;
    reports.push_back(std::move(*read_one));
  }
  return true;
}

// As the first of the reports is where the name of the file was forgotten behind --json.
bool is_report(const std::string& name) {
  try {
    return report::kind_of_file(name) == report::FileKind::report;
  } catch (const std::runtime_error&) {
    return false;
  }
}

}  // namespace

int compare_reports(const CompareOptions& options) {
  report::Sides sides;
  try {
    sides = report::sides_of(options.sides);
  } catch (const std::runtime_error& fault) {
    base::warn("compare: %s", fault.what());
    return kUsage;
  }
  std::vector<std::string> read = sides.before;
  read.insert(read.end(), sides.after.begin(), sides.after.end());
  if (!are_apart("compare", {{"--json", options.json}}, read)) return kUsage;
  if (is_report(options.json)) {
    base::warn(
        "compare: --json %s: is a report, which is no place for what is compared; name another file behind --json",
        options.json.c_str());
    return kUsage;
  }
  ReportFile json("compare", "--json", options.json);
  if (!json.good()) return kFailed;
  std::vector<Report> before;
  std::vector<Report> after;
  if (!read_all(sides.before, before) || !read_all(sides.after, after)) return kFailed;
  const report::Comparison made = report::compare(before, after);
  if (options.json != "-") {
    const std::string text = report::to_text(made, has_colour(STDOUT_FILENO), columns_of(STDOUT_FILENO));
    std::fputs(text.c_str(), stdout);
  }
  return options.json.empty() || json.write(report::to_json(made)) ? 0 : kFailed;
}

}  // namespace weft::tools
