// SPDX-License-Identifier: Apache-2.0
#include "numa/kernel.h"

#include <cerrno>
#include <charconv>
#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

namespace weft::tools::numa {

namespace {

class RunningKernel : public Kernel {
 public:
  const platform::NumaNodes& nodes() const override { return nodes_; }

  int read(const std::string& file, std::string& text) const override {
    text.clear();
    const int opened = open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (opened < 0) return errno;
    constexpr size_t kPiece = 1 << 16;
    int error = 0;
    for (;;) {
      const size_t size = text.size();
      text.resize(size + kPiece);
      const ssize_t got = ::read(opened, text.data() + size, kPiece);
      if (got < 0) error = errno;
      text.resize(size + static_cast<size_t>(got > 0 ? got : 0));
      if (got <= 0) break;
    }
    close(opened);
    return error;
  }

  std::vector<int> numbers_in(const std::string& folder) const override {
    std::vector<int> numbers;
    std::error_code error;
    for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(folder, error)) {
      const std::string name = entry.path().filename();
      int number = 0;
      const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), number);
      if (fault == std::errc() && end == name.data() + name.size()) numbers.push_back(number);
    }
    return numbers;
  }

  std::vector<std::string> files_of(pid_t process) const override {
    std::vector<std::string> files;
    std::error_code error;
    const std::string folder = "/proc/" + std::to_string(process) + "/fd";
    for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(folder, error)) {
      std::error_code gone;
      const std::filesystem::path file = std::filesystem::read_symlink(entry.path(), gone);
      if (!gone) files.push_back(file.string());
    }
    return files;
  }

  int query_pages(pid_t process, const std::vector<uint64_t>& pages, std::vector<int>& nodes) const override {
    nodes.assign(pages.size(), -ENOENT);
    std::vector<void*> addresses;
    addresses.reserve(pages.size());
    for (const uint64_t page : pages) addresses.push_back(reinterpret_cast<void*>(page));
    return platform::query_pages(process, addresses.size(), addresses.data(), nodes.data());
  }

 private:
  const platform::NumaNodes nodes_{""};
};

}  // namespace

std::unique_ptr<Kernel> running_kernel() { return std::make_unique<RunningKernel>(); }

}  // namespace weft::tools::numa
