// SPDX-License-Identifier: Apache-2.0
// By which others learn that a thread is gone, however it goes: its number stands in a word that they share, and the
// kernel sets FUTEX_OWNER_DIED there (set_robust_list(2)).
//
// A robust mutex of the C library does the same, but links itself into a list of its thread's by pointers that lie
// beside the word. Here the list lies in the process's own memory, with one entry, and only the distance from it to the
// word is told to the kernel: no process that writes into the segment can lead this one astray.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <linux/futex.h>

namespace weft::node {

// Of one thread, which must not end before the object does, nor use robust mutexes of its own meanwhile.
class EndMark {
 public:
  EndMark() noexcept = default;
  ~EndMark() { remove(); }
  EndMark(const EndMark&) = delete;
  EndMark& operator=(const EndMark&) = delete;

  // To be called before the number is written: if the thread ends and the word holds its number, the word is marked.
  // Where the system call is refused it never is, and only a thorough look finds the end (Check::processes).
  void set(const std::atomic<uint32_t>& word) noexcept;
  // By the same thread; by another one, which is one of a fork's child, it does nothing.
  void remove() noexcept;

 private:
  robust_list entry_{};
  robust_list_head list_{};
  void* before_ = nullptr;  // the C library's
  size_t size_before_ = 0;
  long thread_ = 0;  // that it is set for
};

}  // namespace weft::node
