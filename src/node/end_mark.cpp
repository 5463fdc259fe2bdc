// SPDX-License-Identifier: Apache-2.0
#include "node/end_mark.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace weft::node {

// The kernel reads the list when the thread is gone, so the thread's own order of writing is what counts: at each
// instruction the list is either empty or whole.
void EndMark::set(const std::atomic<uint32_t>& word) noexcept {
  list_.list.next = &list_.list;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  entry_.next = &list_.list;
  list_.futex_offset = static_cast<long>(reinterpret_cast<uintptr_t>(&word) - reinterpret_cast<uintptr_t>(&entry_));
  std::atomic_signal_fence(std::memory_order_seq_cst);
  list_.list.next = &entry_;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const long self = syscall(SYS_gettid);
  if (thread_ == self) return;
  if (syscall(SYS_get_robust_list, 0, &before_, &size_before_) != 0) before_ = nullptr;
  if (syscall(SYS_set_robust_list, &list_, sizeof list_) == 0) thread_ = self;
}

void EndMark::remove() noexcept {
  if (thread_ == 0 || thread_ != syscall(SYS_gettid)) return;
  thread_ = 0;
  syscall(SYS_set_robust_list, before_, sizeof list_);
}

}  // namespace weft::node
