// SPDX-License-Identifier: Apache-2.0
#include "observe/record/trace/log.h"

#include <new>

namespace weft::observe::trace {

void Log::append(const Record& record) noexcept {
  size_t count = last_ != nullptr ? last_->count.load(std::memory_order_relaxed) : kRecords;
  if (count == kRecords) {
    auto* block = new (std::nothrow) Block;
    if (block == nullptr) {
      lost_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    (last_ != nullptr ? last_->next : first_).store(block, std::memory_order_release);
    last_ = block;
    count = 0;
  }
  last_->records[count] = record;
  last_->count.store(count + 1, std::memory_order_release);
}

}  // namespace weft::observe::trace
