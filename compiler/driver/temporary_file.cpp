// SPDX-License-Identifier: Apache-2.0
#include "temporary_file.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "refusal.h"

namespace weft::driver {

TemporaryFile::TemporaryFile(const std::string& suffix) {
  const char* folder = std::getenv("TMPDIR");
  path_ = std::string(folder != nullptr && *folder != '\0' ? folder : "/tmp") + "/weftcc-XXXXXX" + suffix;
  file_ = mkostemps(path_.data(), static_cast<int>(suffix.size()), O_CLOEXEC);
  if (file_ < 0)
    throw Refusal{kUsage, path_ + ": " + std::strerror(errno) + "; set TMPDIR to a folder that can be written"};
}

TemporaryFile::~TemporaryFile() {
  close(file_);
  unlink(path_.c_str());
}

void TemporaryFile::write(const std::string& bytes) const {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t size = ::write(file_, bytes.data() + done, bytes.size() - done);
    if (size < 0 && errno != EINTR) throw Refusal{kUsage, path_ + ": " + std::strerror(errno)};
    if (size > 0) done += static_cast<size_t>(size);
  }
}

}  // namespace weft::driver
