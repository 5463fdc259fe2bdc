// SPDX-License-Identifier: Apache-2.0
#include "metrics_file.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/message.h"
#include "ending_signals.h"
#include "exit_codes.h"
#include "platform/file_name.h"

namespace weft::tools {

namespace {

bool write_all(int descriptor, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = write(descriptor, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

// With the permissions that the umask leaves, since node_exporter is another user; what a process of the same number
// has left there goes.
int create(const char* name) {
  unlink(name);
  return open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

struct FileId {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const FileId&) const = default;
};

bool replace(const std::string& file, const std::string& text, FileId& id, std::string& reason) {
  // It stands in the same folder, so that it can take the file's place in one step. Its name does not end in .prom:
  // node_exporter reads all files that do.
  const std::string fresh = file + '.' + std::to_string(getpid()) + ".tmp";
  const int descriptor = create(fresh.c_str());
  struct stat status{};
  bool good = descriptor >= 0 && write_all(descriptor, text) && fstat(descriptor, &status) == 0;
  int error = errno;
  if (descriptor >= 0 && close(descriptor) != 0 && good) {
    good = false;
    error = errno;
  }
  if (good && rename(fresh.c_str(), file.c_str()) != 0) {
    good = false;
    error = errno;
  }
  if (good) {
    id = {status.st_dev, status.st_ino};
    return true;
  }
  if (descriptor >= 0) unlink(fresh.c_str());
  reason = "--openmetrics " + file + ": " + platform::why_not_written(file, error);
  return false;
}

// Another command may have put its own there since.
void remove_own(const std::string& file, const FileId& id) {
  struct stat status{};
  if (lstat(file.c_str(), &status) == 0 && FileId{status.st_dev, status.st_ino} == id) unlink(file.c_str());
}

// Waits so long; true when the command is to end. The signals are blocked, so that none comes while a file is written.
bool asked_to_end(const sigset_t& signals, double seconds) {
  const auto whole = static_cast<time_t>(seconds);
  const timespec span{whole, static_cast<long>((seconds - static_cast<double>(whole)) * 1e9)};
  return sigtimedwait(&signals, nullptr, &span) > 0;
}

}  // namespace

bool replace_file(const std::string& file, const std::string& text, std::string& reason) {
  FileId id;
  return replace(file, text, id, reason);
}

int keep_file(const std::string& file, double seconds, const std::function<std::string()>& text) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : ending_signals()) sigaddset(&signals, signal);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  FileId id;
  std::string said;
  bool first = true;
  do {
    std::string reason;
    if (!replace(file, text(), id, reason) && reason != said) base::warn("top: %s", reason.c_str());
    if (first && !reason.empty()) return kFailed;
    first = false;
    said = reason;
  } while (!asked_to_end(signals, seconds));
  remove_own(file, id);
  return 0;
}

}  // namespace weft::tools
