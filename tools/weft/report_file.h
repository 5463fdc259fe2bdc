// SPDX-License-Identifier: Apache-2.0
// A file for a report. Its place is taken before the program runs: a long run must not end with a report that has none.
// Until the report is written, and where it never is, an older file of that name stays as it was.
#pragma once

#include <cstdio>
#include <string>

namespace weft::tools {

class ReportFile {
 public:
  // `name`: "-" is stdout, "" none. Warns as weft's command `command` where the file cannot be opened.
  ReportFile(std::string command, const std::string& name);
  ~ReportFile();
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;

  bool good() const { return name_.empty() || name_ == "-" || out_ != nullptr; }
  // The whole of it, once. Warns where that cannot be.
  bool write(const std::string& text);

 private:
  void complain() const;
  void open();

  const std::string command_;
  const std::string name_;
  std::string temporary_;  // the file that is written, to be called name_; empty: it has that name
  std::FILE* out_ = nullptr;
};

// Whether two names of outputs are one file, or both are stdout.
bool is_same_file(const std::string& a, const std::string& b);

}  // namespace weft::tools
