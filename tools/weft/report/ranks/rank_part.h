// SPDX-License-Identifier: Apache-2.0
// What a rank of a job has left for the report of all, and its form in a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace weft::tools {

struct RankPart {
  int rank = 0;
  int exit_code = 0;
  std::string why;  // there is no report; empty: there is one
  bool is_early = false;  // the rank still ran when another one failed
  std::string program;  // as it was called
  std::string host;
  std::string cpus;  // of the host that it may use, as the kernel lists them
  int64_t began = 0;  // when it came here, by the clock of the file system
  std::string report;  // its JSON
};

// The first line has all but the report.
std::string to_text(const RankPart& part);
// None: it is damaged.
std::optional<RankPart> part_of(const std::string& text);

}  // namespace weft::tools
