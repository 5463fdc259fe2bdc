// SPDX-License-Identifier: Apache-2.0
#include "report/ranks/own_files.h"

#include <array>
#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft::tools {

namespace fs = std::filesystem;

namespace {

// Closes it in any case, and keeps the first error in errno.
bool write_and_close(int descriptor, const std::string& text) {
  size_t written = 0;
  int error = 0;
  while (written < text.size() && error == 0) {
    const ssize_t more = write(descriptor, text.data() + written, text.size() - written);
    if (more > 0) {
      written += static_cast<size_t>(more);
    } else if (more == 0 || errno != EINTR) {
      error = more == 0 ? ENOSPC : errno;
    }
  }
  // A quota over NFS is said here.
  if (close(descriptor) != 0 && error == 0) error = errno;
  errno = error;
  return error == 0;
}

}  // namespace

bool is_own_folder(const fs::path& folder) {
  struct stat status{};
  if (lstat(folder.c_str(), &status) != 0) return false;
  errno = 0;
  return S_ISDIR(status.st_mode) && status.st_uid == geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool make_own_folder(const fs::path& folder) {
  if (mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) return false;
  return is_own_folder(folder);
}

bool put_file(const fs::path& file, const std::string& text) {
  const fs::path made = file.string() + ".new";
  unlink(made.c_str());
  const int descriptor = open(made.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (descriptor < 0) return false;
  if (write_and_close(descriptor, text) && std::rename(made.c_str(), file.c_str()) == 0) return true;
  const int error = errno;
  unlink(made.c_str());
  errno = error;
  return false;
}

std::string text_in(const fs::path& file, bool line) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return {};
  struct stat status{};
  std::string text;
  if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) {
    std::array<char, 1 << 16> some;
    for (ssize_t more; (more = read(descriptor, some.data(), some.size())) > 0;) {
      text.append(some.data(), static_cast<size_t>(more));
      if (line && text.find('\n') != std::string::npos) break;
    }
  }
  close(descriptor);
  return line ? text.substr(0, text.find('\n')) : text;
}

int64_t time_of(const fs::path& file) {
  constexpr int64_t kSecond = 1'000'000'000;
  struct stat status{};
  if (lstat(file.c_str(), &status) != 0) return 0;
  return static_cast<int64_t>(status.st_mtim.tv_sec) * kSecond + status.st_mtim.tv_nsec;
}

bool is_there(const fs::path& file) {
  struct stat status{};
  return lstat(file.c_str(), &status) == 0;
}

void remove_folder(const fs::path& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
}

}  // namespace weft::tools
