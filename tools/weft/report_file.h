// SPDX-License-Identifier: Apache-2.0
// A file for a report. Its place is taken before the program runs: a long run must not end with a report that has none.
// Until the report is written, and where it never is, an older file of that name stays as it was.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace weft::tools {

class ReportFile {
 public:
  // `name`: "-" is stdout, "" none. Warns as weft's command `command`, to which `option` gave the name, where the file
  // cannot be opened.
  ReportFile(const std::string& command, const std::string& option, const std::string& name);
  ~ReportFile();
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;

  bool good() const { return name_.empty() || name_ == "-" || out_ != nullptr; }
  // The whole of it, once. Warns where that cannot be.
  bool write(const std::string& text);

 private:
  void complain() const;
  void open();

  const std::string asker_;
  const std::string name_;
  std::string place_;  // where the file is to be in the end, behind all links
  std::string temporary_;  // the file that is written, to stand in that place; empty: name_ itself is
  std::FILE* out_ = nullptr;
};

struct Output {
  const char* option;
  std::string name;  // "-": stdout; empty: it was not given
};

// Whether the files that weft's command `command` writes are files of their own. Warns where two of them are one, or
// one is among those that it reads.
bool are_apart(const std::string& command, const std::vector<Output>& outputs,
               const std::vector<std::string>& read = {});

}  // namespace weft::tools
