// SPDX-License-Identifier: Apache-2.0
// A folder in which programs leave what they are asked for; it goes with this object. Those of commands that were
// killed go when the next one is made.
#pragma once

#include <filesystem>
#include <string>

namespace weft::tools {

class RecordFolder {
 public:
  // In memory if there is room, else where temporary files are. Warns as weft's command `command` where there is no
  // place for it; its path is empty then.
  explicit RecordFolder(const std::string& command);
  ~RecordFolder();
  RecordFolder(const RecordFolder&) = delete;
  RecordFolder& operator=(const RecordFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace weft::tools
