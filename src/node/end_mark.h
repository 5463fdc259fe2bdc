// SPDX-License-Identifier: Apache-2.0
// The mark by which other processes learn that a thread is gone, however it ends: the thread's number stands in a word
// of shared memory, and the kernel sets FUTEX_OWNER_DIED in that word (set_robust_list(2)).
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

// The mark of one thread, which must not end before the object does, and must not use robust mutexes meanwhile.
class EndMark {
 public:
  EndMark() noexcept = default;
  ~EndMark() { remove(); }
  EndMark(const EndMark&) = delete;
  EndMark& operator=(const EndMark&) = delete;

  // To be called before the thread's number is written to `word`: if the thread ends while the word holds the number,
  // the kernel marks the word. Where the system refuses the call no word is marked, and only a thorough look finds the
  // end of the thread (Check::processes).
  void set(const std::atomic<uint32_t>& word) noexcept;
  // Called by the same thread. In the child of a fork, where it is another thread, it does nothing.
  void remove() noexcept;

 private:
  robust_list entry_{};
  robust_list_head list_{};
  void* before_ = nullptr;  // the list of the C library, which remove() puts back
  size_t size_before_ = 0;
  long thread_ = 0;  // the thread that the mark is set for; 0: none
};

}  // namespace weft::node
