// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft::tools {

// A file mapped for reading; empty where that cannot be.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    // A FIFO would have the opening wait.
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status{};
    if (file < 0) return;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
      const auto size = static_cast<size_t>(status.st_size);
      void* start = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
      if (start != MAP_FAILED) bytes_ = {static_cast<const char*>(start), size};
    }
    close(file);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  }

  std::string_view all() const { return bytes_; }
  // Empty where the file is shorter.
  std::string_view part(uint64_t offset, uint64_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) return {};
    return bytes_.substr(offset, size);
  }
  template <class T>
  bool read(uint64_t offset, T& into) const {
    const std::string_view found = part(offset, sizeof into);
    if (found.empty()) return false;
    std::memcpy(&into, found.data(), sizeof into);
    return true;
  }
  // Up to the zero behind it.
  std::string text(uint64_t offset) const {
    if (offset >= bytes_.size()) return {};
    const std::string_view rest = bytes_.substr(offset);
    return std::string(rest.substr(0, rest.find('\0')));
  }

 private:
  std::string_view bytes_;
};

}  // namespace weft::tools
