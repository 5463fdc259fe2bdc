// SPDX-License-Identifier: Apache-2.0
// A file that is there as long as its object.
#pragma once

#include <string>

namespace weft::driver {

class TemporaryFile {
 public:
  // In TMPDIR or /tmp, its name ends with `suffix`. Throws Refusal.
  explicit TemporaryFile(const std::string& suffix);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const noexcept { return path_; }
  void write(const std::string& bytes) const;  // throws Refusal

 private:
  std::string path_;
  int file_ = -1;
};

}  // namespace weft::driver
