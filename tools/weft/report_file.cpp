// SPDX-License-Identifier: Apache-2.0
#include "report_file.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/message.h"

namespace weft::tools {

ReportFile::ReportFile(std::string command, const std::string& name) : command_(std::move(command)), name_(name) {
  if (name.empty() || name == "-") return;
  out_ = std::fopen(name.c_str(), "we");
  if (out_ == nullptr) complain();
}

ReportFile::~ReportFile() {
  if (out_ != nullptr) std::fclose(out_);
}

bool ReportFile::write(const std::string& text) {
  if (name_ == "-") return std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  std::FILE* out = std::exchange(out_, nullptr);
  const bool written = std::fwrite(text.data(), 1, text.size(), out) == text.size();
  const int error = errno;
  const bool closed = std::fclose(out) == 0;
  if (written && closed) return true;
  errno = written ? errno : error;
  complain();
  return false;
}

void ReportFile::complain() const { base::warn("%s: %s: %s", command_.c_str(), name_.c_str(), std::strerror(errno)); }

}  // namespace weft::tools
