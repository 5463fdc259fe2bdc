// SPDX-License-Identifier: Apache-2.0
#include "report_file.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <stdio_ext.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/message.h"
#include "platform/file_name.h"

namespace weft::tools {

namespace {

// The error is that of the call that fails, so it is said here, and nobody has to ask stdout for it later.
bool write_to_stdout(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return true;
  base::warn("standard output: %s", std::strerror(errno));
  __fpurge(stdout);
  std::clearerr(stdout);
  return false;
}

bool is_same_file(const std::string& a, const std::string& b) {
  if (a.empty() || a == "-" || b == "-") return a == b;
  const auto real = [](const std::string& name) {
    const std::string place = platform::place_to_replace(name);
    std::error_code error;
    return std::filesystem::weakly_canonical(std::filesystem::absolute(place.empty() ? name : place, error), error);
  };
  return real(a) == real(b);
}

// What is wrong; empty: nothing.
std::string fault_of(const std::vector<Output>& outputs, const std::vector<std::string>& read) {
  for (auto output = outputs.begin(); output != outputs.end(); ++output) {
    if (output->name.empty()) continue;
    const auto is_it = [&](const std::string& other) { return is_same_file(other, output->name); };
    const std::string words = std::string(output->option) + " " + output->name;
    const auto first = std::find_if(outputs.begin(), output, [&](const Output& other) { return is_it(other.name); });
    if (first != output && output->name == "-") {
      return words + ", " + first->option + " -: only one of them can go to stdout; name a file for the other";
    }
    if (first != output) return words + ": is the file of " + first->option + " too; each needs its own";
    if (output->name != "-" && std::any_of(read.begin(), read.end(), is_it)) {
      return words + ": is the file that is read; name another one for what is written";
    }
  }
  return {};
}

// Names are of 255 bytes at most.
std::string temporary_name(const std::string& place) {
  constexpr std::string_view kEnd = ".XXXXXX";
  const size_t folder = place.rfind('/') + 1;
  return place.substr(0, folder) + place.substr(folder, NAME_MAX - kEnd.size()).append(kEnd);
}

}  // namespace

ReportFile::ReportFile(const std::string& command, const std::string& option, const std::string& name)
    : asker_(command + ": " + option), name_(name) {
  if (name.empty() || name == "-") return;
  open();
  if (out_ == nullptr) complain();
}

// Beside the old one where that can be replaced, and its folder takes a new one of that owner.
void ReportFile::open() {
  struct stat old{};
  const bool exists = stat(name_.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) {
    errno = EISDIR;
    return;
  }
  place_ = platform::place_to_replace(name_);
  if (!place_.empty()) {
    temporary_ = temporary_name(place_);
    const int descriptor = mkostemp(temporary_.data(), O_CLOEXEC);
    if (descriptor >= 0 && !exists) {
      const mode_t mask = umask(0);
      umask(mask);
      fchmod(descriptor, 0666 & ~mask);
    }
    if (descriptor >= 0 && (!exists || platform::take_owner_and_rights(descriptor, old))) {
      out_ = fdopen(descriptor, "w");
      return;
    }
    if (descriptor >= 0) {
      close(descriptor);
      unlink(temporary_.c_str());
    }
    temporary_.clear();
    if (!exists && errno != ENAMETOOLONG) return;
  }
  // Not truncated yet: an older report stays until there is the new one.
  const int descriptor = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor >= 0) out_ = fdopen(descriptor, "w");
}

ReportFile::~ReportFile() {
  if (out_ != nullptr) std::fclose(out_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

bool ReportFile::write(const std::string& text) {
  if (name_ == "-") return write_to_stdout(text);
  std::FILE* out = std::exchange(out_, nullptr);
  // A device has no length.
  if (temporary_.empty() && ftruncate(fileno(out), 0) != 0) errno = 0;
  bool good = std::fwrite(text.data(), 1, text.size(), out) == text.size();
  int error = errno;
  if (std::fclose(out) != 0 && std::exchange(good, false)) error = errno;
  if (good && !temporary_.empty()) {
    good = std::rename(temporary_.c_str(), place_.c_str()) == 0;
    error = errno;
    if (good) temporary_.clear();
  }
  if (good) return true;
  errno = error;
  complain();
  return false;
}

void ReportFile::complain() const {
  base::warn("%s %s: %s", asker_.c_str(), name_.c_str(), platform::why_not_written(name_, errno).c_str());
}

bool are_apart(const std::string& command, const std::vector<Output>& outputs, const std::vector<std::string>& read) {
  const std::string fault = fault_of(outputs, read);
  if (!fault.empty()) base::warn("%s: %s", command.c_str(), fault.c_str());
  return fault.empty();
}

}  // namespace weft::tools
