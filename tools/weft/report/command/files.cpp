// SPDX-License-Identifier: Apache-2.0
#include "report/command/files.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "program.h"
#include "report/advice/advice.h"
#include "report/json/json.h"
#include "report/ranks/merge.h"
#include "report/trace/trace.h"

namespace weft::tools::report {

namespace {

using Json = nlohmann::json;

// Reads as far as it takes to know.
class KindFinder final : public nlohmann::json_sax<Json> {
 public:
  enum class Found { nothing, report, trace, other_format, damage };

  bool key(string_t& name) override {
    if (depth_ != 1) return true;
    is_format_ = name == "format";
    return name != "traceEvents" || stop(Found::trace);
  }
  bool string(string_t& text) override {
    if (depth_ != 1 || !is_format_) return true;
    format = text;
    return stop(text.rfind("weft report ", 0) == 0 ? Found::report : Found::other_format);
  }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override { return enter(); }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
    byte = position;
    return stop(Found::damage);
  }

  Found found = Found::nothing;
  std::string format;
  size_t byte = 0;

 private:
  bool stop(Found what) {
    found = what;
    return false;
  }
  bool enter() {
    ++depth_;
    return true;
  }
  bool leave() {
    --depth_;
    return true;
  }

  int depth_ = 0;
  bool is_format_ = false;
};

std::ifstream opened(const std::string& name) {
  struct stat status{};
  if (stat(name.c_str(), &status) != 0) throw std::runtime_error(std::strerror(errno));
  if (S_ISDIR(status.st_mode)) throw std::runtime_error("is a directory; a file is wanted");
  if (!S_ISREG(status.st_mode)) throw std::runtime_error("is no plain file, and it is read twice");
  std::ifstream in(name, std::ios::binary);
  if (!in) throw std::runtime_error(std::strerror(errno));
  return in;
}

Report read_file(const std::string& name, const std::filesystem::path& folder) {
  std::ifstream in = opened(name);
  if (kind_of_file(name) == FileKind::report) {
    return report_from_json({std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()});
  }
  Report made = report_of_trace(name, folder);
  made.advice = advise(made, &made.run.notes);
  return made;
}

void check_ranks(const std::vector<Report>& reports, const std::vector<std::string>& names) {
  for (size_t i = 0; i < reports.size(); ++i) {
    const int rank = reports[i].run.rank;
    if (rank < 0) {
      throw std::runtime_error(names[i] +
                               ": is not of one rank of MPI, and only such files are put together; weft compare "
                               "compares several runs");
    }
    for (size_t other = 0; other < i; ++other) {
      if (reports[other].run.rank != rank) continue;
      throw std::runtime_error(names[i] + ": is of rank " + std::to_string(rank) + ", as " + names[other] + " is");
    }
  }
}

}  // namespace

FileKind kind_of_file(const std::string& name) {
  std::ifstream in = opened(name);
  KindFinder finder;
  Json::sax_parse(in, &finder);
  using Found = KindFinder::Found;
  switch (finder.found) {
    case Found::report: return FileKind::report;
    case Found::trace: return FileKind::trace;
    case Found::damage:
      throw std::runtime_error("not JSON: something is wrong at its byte " + std::to_string(finder.byte));
    case Found::nothing:
    case Found::other_format: break;
  }
  const std::string is = finder.format.empty() ? "" : ", but \"" + finder.format + "\"";
  throw std::runtime_error("neither a report by weft report --json nor a trace by weft trace" + is +
                           "; a program of that name stands behind --");
}

bool is_for_reading(const std::string& name) {
  constexpr char kEnd[] = ".json";
  const size_t length = std::strlen(kEnd);
  if (name.size() < length || name.compare(name.size() - length, length, kEnd) != 0) return false;
  struct stat status{};
  if (stat(name.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) return true;
  return examine_program(name).path.empty();
}

Report read_files(const std::vector<std::string>& names, const std::filesystem::path& folder) {
  std::vector<Report> reports;
  for (const std::string& name : names) {
    try {
      reports.push_back(read_file(name, folder));
    } catch (const std::runtime_error& fault) {
      throw std::runtime_error(name + ": " + fault.what());
    }
  }
  if (reports.size() == 1) return std::move(reports.front());
  check_ranks(reports, names);
  Report merged = merge(std::move(reports));
  merged.advice = advise(merged, &merged.run.notes);
  return merged;
}

}  // namespace weft::tools::report
