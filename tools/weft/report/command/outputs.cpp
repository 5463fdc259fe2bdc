// SPDX-License-Identifier: Apache-2.0
#include "report/command/outputs.h"

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <unistd.h>

#include "base/message.h"
#include "library.h"
#include "platform/file_name.h"
#include "report/json/json.h"
#include "report/page/page.h"
#include "report/text/text.h"
#include "terminal.h"

namespace weft::tools {

namespace {

std::string contents_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

std::string file_called(const std::string& name, const ReportOptions& options) {
  // A program has named the files of a profile, letter by letter.
  return options.profile.empty() ? platform::with_numbers(name, getpid()) : name;
}

Outputs::Outputs(const ReportOptions& options)
    : page_name_(file_called(options.page, options)),
      json_name_(file_called(options.json, options)),
      page_("report", "-o", page_name_),
      json_("report", "--json", json_name_),
      template_(contents_of(find_libraries().page)) {
  if (template_.empty()) base::warn("report: %s: cannot be read; install weft again", find_libraries().page.c_str());
}

bool Outputs::write(const report::Report& made, bool quiet) {
  // A reader that has gone is an error like others: the folder of the records must not stay.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  const std::string json = report::to_json(made);
  const bool has_page = page_.write(report::page_of(template_, json));
  const bool good = (json_name_.empty() || json_.write(json)) && has_page;
  if (quiet) return good;
  const std::string shown = has_page && page_name_ != "-" ? page_name_ : "";
  const std::string text = report::to_text(made, has_colour(STDERR_FILENO), columns_of(STDERR_FILENO), shown);
  return std::fwrite(text.data(), 1, text.size(), stderr) == text.size() && good;
}

}  // namespace weft::tools
