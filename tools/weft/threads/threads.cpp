// SPDX-License-Identifier: Apache-2.0
#include "threads/threads.h"

#include <cstdio>
#include <optional>
#include <string>

#include "base/message.h"
#include "descendants.h"
#include "exit_codes.h"
#include "report_file.h"
#include "threads/look.h"
#include "threads/picture.h"
#include "threads/proc_reader.h"
#include "threads/running_process.h"

namespace weft::tools {

namespace {

std::optional<threads::Picture> look(const ThreadsOptions& options) {
  std::string fault;
  std::optional<threads::Picture> picture;
  if (options.process == 0) {
    picture = threads::look_at_core(options.core, &fault);
    if (!picture) base::warn("threads: %s: %s", options.core.c_str(), fault.c_str());
    return picture;
  }
  std::string several;
  int number = meant_process(options.process, RunningProcess::can_be_asked, &several);
  if (several.empty() && !RunningProcess::can_be_asked(number))
    number = meant_process(options.process, ProcReader::is_on_weft, &several);
  if (!several.empty()) {
    base::warn("threads: process %d has started several on weft: %s; which one?", options.process, several.c_str());
    return std::nullopt;
  }
  picture = threads::look_at_process(number, &fault);
  if (!picture) base::warn("threads: process %d: %s", number, fault.c_str());
  return picture;
}

}  // namespace

int show_threads(const ThreadsOptions& options) {
  ReportFile json("threads", "--json", options.json);
  if (!json.good()) return kFailed;
  const std::optional<threads::Picture> picture = look(options);
  if (!picture) return kFailed;
  if (!options.json.empty() && !json.write(as_json(*picture))) return kFailed;
  if (options.json != "-") std::fputs(as_text(*picture, options.stacks).c_str(), stdout);
  return 0;
}

}  // namespace weft::tools
