// SPDX-License-Identifier: Apache-2.0
// The report as one HTML file. The build makes its template of tools/weft/report/page; two holes are left in it:
//   @WEFT_TITLE@   within <title>
//   @WEFT_REPORT@  within <script type="application/json">, for the report as docs/explanation/report.md has it
#pragma once

#include <string>

namespace weft::tools::report {

// The template with the report inside, titled with the program's command. No text of the report can end the element
// that it is in. Throws std::runtime_error where the template has no holes or the report is not JSON.
std::string page_of(const std::string& page_template, const std::string& json);

}  // namespace weft::tools::report
