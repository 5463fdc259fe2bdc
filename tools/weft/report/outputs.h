// SPDX-License-Identifier: Apache-2.0
// Where a report goes: the page, the JSON and the summary. Places of files are taken before the program runs.
#pragma once

#include <string>

#include "library.h"
#include "report/command.h"
#include "report/model.h"
#include "report_file.h"

namespace weft::tools {

class Outputs {
 public:
  // Warns of what cannot be written.
  Outputs(const ReportOptions& options, const Libraries& found);

  bool good() const { return page_.good() && json_.good() && !template_.empty(); }
  bool write(const report::Report& made, bool quiet);

 private:
  const std::string page_name_;
  const std::string json_name_;
  ReportFile page_;
  ReportFile json_;
  const std::string template_;
};

}  // namespace weft::tools
