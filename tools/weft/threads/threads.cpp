// SPDX-License-Identifier: Apache-2.0
#include "threads/threads.h"

#include <cstdio>
#include <optional>
#include <string>

#include "base/message.h"
#include "descendants.h"
#include "exit_codes.h"
#include "report_file.h"
#include "threads/inspector.h"
#include "threads/look.h"
#include "threads/picture.h"

namespace weft::tools {

int show_threads(const ThreadsOptions& options) {
  ReportFile json("threads", "--json", options.json);
  if (!json.good()) return kFailed;
  std::string several;
  const int number = meant_process(options.process, Inspector::can_be_asked, &several);
  if (!several.empty()) {
    base::warn("threads: process %d has started several on weft: %s; which one?", options.process, several.c_str());
    return kFailed;
  }
  std::string fault;
  const std::optional<threads::Picture> picture = threads::look_at(number, &fault);
  if (!picture) {
    base::warn("threads: process %d: %s", number, fault.c_str());
    return kFailed;
  }
  if (!options.json.empty() && !json.write(as_json(*picture))) return kFailed;
  if (options.json != "-") std::fputs(as_text(*picture, options.stacks).c_str(), stdout);
  return 0;
}

}  // namespace weft::tools
