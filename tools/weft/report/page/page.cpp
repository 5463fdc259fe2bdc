// SPDX-License-Identifier: Apache-2.0
#include "report/page/page.h"

#include <cstddef>
#include <stdexcept>
#include <string_view>

#include <nlohmann/json.hpp>

namespace weft::tools::report {
namespace {

constexpr std::string_view kTitle = "@WEFT_TITLE@";
constexpr std::string_view kReport = "@WEFT_REPORT@";

size_t place_of(std::string_view hole, const std::string& page_template) {
  const size_t place = page_template.find(hole);
  if (place == std::string::npos) {
    throw std::runtime_error("the page's template has no " + std::string(hole) + ": it is not the one of this version");
  }
  return place;
}

// "weft report: ./solver --size 3"
std::string title_of(const std::string& json) {
  // The timeline is most of a report, and is left out as it is read.
  const auto keep = [](int depth, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
    return depth != 1 || event != nlohmann::json::parse_event_t::key || parsed == "run";
  };
  const nlohmann::json report = nlohmann::json::parse(json, keep, false);
  if (!report.is_object()) throw std::runtime_error("the report for the page is not a JSON object");
  std::string title = "weft report";
  const auto run = report.find("run");
  if (run == report.end() || !run->is_object()) return title;
  const auto command = run->find("command");
  if (command == run->end() || !command->is_array()) return title;
  const char* separator = ": ";
  for (const auto& word : *command) {
    if (!word.is_string()) continue;
    title += separator;
    title += word.get<std::string>();
    separator = " ";
  }
  return title;
}

std::string in_html(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

// JSON has < in strings alone, where it may be written so as well. HTML then finds neither the script's end nor the
// start of a comment.
void append_in_script(const std::string& json, std::string& page) {
  for (const char c : json) {
    if (c == '<') {
      page += "\\u003c";
    } else {
      page += c;
    }
  }
}

}  // namespace

std::string page_of(const std::string& page_template, const std::string& json) {
  // Both places are looked up first: what is put into one hole may read like the other.
  const size_t title = place_of(kTitle, page_template);
  const size_t report = place_of(kReport, page_template);
  if (report < title) throw std::runtime_error("the page's template has its title behind the report");
  std::string page;
  page.reserve(page_template.size() + json.size() + json.size() / 64);
  page.append(page_template, 0, title);
  page += in_html(title_of(json));
  const size_t after_title = title + kTitle.size();
  page.append(page_template, after_title, report - after_title);
  append_in_script(json, page);
  page.append(page_template, report + kReport.size());
  return page;
}

}  // namespace weft::tools::report
