// SPDX-License-Identifier: Apache-2.0
// --weft-report: what has become of each construct.
#pragma once

#include <string>

#include "temporary_file.h"

namespace weft::driver {

class Report {
 public:
  // `wanted`: the file; empty: stderr. Throws Refusal if it cannot be written.
  explicit Report(const std::string& wanted);
  ~Report();
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  // Where the pass writes its lines of JSON.
  const std::string& lines() const noexcept { return lines_.path(); }

  // Writes the report at the end. `what`: the sources; `not_lowered`: why there is nothing; may be empty.
  void write(const std::string& what, const std::string& not_lowered) const;

 private:
  TemporaryFile lines_;
  bool in_file_ = false;
  bool as_json_ = false;
  int file_;
};

}  // namespace weft::driver
