// SPDX-License-Identifier: Apache-2.0
#include "report/wording/headline.h"

#include "report/wording/numbers.h"

namespace weft::tools::report {

std::string headline_of(const Report& report) {
  const Run& run = report.run;
  std::string text = seconds_text(run.seconds) + " on weft, ";
  const double used = run.seconds > 0 ? cpu_seconds_of(report) / run.seconds : 0;
  const std::string cpus = of_these(static_cast<uint64_t>(run.cpus), "CPU");
  text += used > 0 ? format("%.2f of %s used", used, cpus.c_str()) : cpus;
  const double others = run.seconds > 0 ? run.others_cpu / run.seconds : 0;
  if (others >= kMuch * run.cpus) text += format("; other processes used %.2f of them", others);
  return text + '.';
}

}  // namespace weft::tools::report
