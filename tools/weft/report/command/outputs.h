// SPDX-License-Identifier: Apache-2.0
// Where a report goes: the page, the JSON, the summary.
#pragma once

#include <string>

#include "report/command/command.h"
#include "report/model/model.h"
#include "report_file.h"

namespace weft::tools {

// The file that `name`, one of `options`, stands for.
std::string file_called(const std::string& name, const ReportOptions& options);

class Outputs {
 public:
  // Warns of what cannot be written.
  explicit Outputs(const ReportOptions& options);

  bool good() const { return page_.good() && json_.good() && !template_.empty(); }
  // Whether all of it could be written. `quiet`: no summary.
  bool write(const report::Report& made, bool quiet);

 private:
  const std::string page_name_;
  const std::string json_name_;
  ReportFile page_;
  ReportFile json_;
  const std::string template_;
};

}  // namespace weft::tools
