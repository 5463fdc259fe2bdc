// SPDX-License-Identifier: Apache-2.0
// A number of the process's own, and the word in the segment by which others know it. It is never read from there, so
// whatever is written over it is right again at the next change.
#pragma once

#include <algorithm>
#include <atomic>

#include "platform/fence.h"

namespace weft::node {

template <class Number, class Word>
class Published {
 public:
  explicit Published(std::atomic<Word>& word) noexcept : word_(word) {}

  Number get() const noexcept { return number_.load(std::memory_order_relaxed); }

  // Any thread may change it.
  Number exchange(Number number) noexcept {
    const Number before = number_.exchange(number);
    publish();
    return before;
  }
  void add(Number amount) noexcept {
    number_.fetch_add(amount);
    publish();
  }
  // False, and nothing is changed, when it is `bound` already, or more.
  bool add_one_below(Number bound) noexcept {
    Number before = get();
    do {
      if (before >= bound) return false;
    } while (!number_.compare_exchange_weak(before, before + 1));
    publish();
    return true;
  }

  // Sequentially consistent, as the changes are: the last writer looks at the number once more after that, and a thread
  // that changes it later writes later. So what remains in the word is what the number was last.
  void publish() noexcept {
    Number told;
    do {
      told = number_.load();
      word_.exchange(static_cast<Word>(std::max(told, Number{0})));
      platform::full_fence_after_update();
    } while (number_.load() != told);
  }

 private:
  std::atomic<Number> number_{0};
  std::atomic<Word>& word_;
};

}  // namespace weft::node
