// SPDX-License-Identifier: Apache-2.0
// Shared memory for a test: of threads, and of the children that it forks.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <functional>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weft::shm::test {

class Segment {
 public:
  explicit Segment(size_t bytes) : bytes_(bytes), file_(memfd_create("segment", MFD_CLOEXEC)) {
    if (file_ < 0 || ftruncate(file_, static_cast<off_t>(bytes)) != 0) std::abort();
    memory_ = map();
  }
  ~Segment() {
    munmap(memory_, bytes_);
    close(file_);
  }
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  // The same memory once more, at another address; the caller unmaps it.
  void* map() const {
    void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (memory == MAP_FAILED) std::abort();
    return memory;
  }

  void* memory() const { return memory_; }
  size_t bytes() const { return bytes_; }
  template <class Value>
  Value* as() const {
    return static_cast<Value*>(memory_);
  }

 private:
  void* memory_ = nullptr;
  size_t bytes_;
  int file_;
};

// Runs `work` in a child, whose exit code is what it returns.
inline pid_t spawn(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  return child;
}

// The exit code of `child`, or minus the signal that has ended it.
inline int result_of(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) return -1000;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace weft::shm::test
