// SPDX-License-Identifier: Apache-2.0
// A number of this process, and a word of the segment that shows it to others. The process goes by the number: a word
// that another process has written over is right again at the next change.
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

  // Any thread may change the number. Returns the number before.
  Number exchange(Number number) noexcept {
    const Number before = number_.exchange(number);
    publish();
    return before;
  }
  void add(Number amount) noexcept {
    number_.fetch_add(amount);
    publish();
  }
  // Returns false, and changes nothing, where the number is `bound` already, or more.
  bool add_one_below(Number bound) noexcept {
    Number before = get();
    do {
      if (before >= bound) return false;
    } while (!number_.compare_exchange_weak(before, before + 1));
    publish();
    return true;
  }

  // Copies the number to the word. Sequentially consistent, as the changes are: a thread that has written the word
  // looks at the number once more, and a thread that changes the number later writes the word later. So the value that
  // stays in the word is the number's last one.
  void publish() noexcept {
    Number number;
    do {
      number = number_.load();
      word_.exchange(static_cast<Word>(std::max(number, Number{0})));
      platform::full_fence_after_update();
    } while (number_.load() != number);
  }

 private:
  std::atomic<Number> number_{0};
  std::atomic<Word>& word_;
};

}  // namespace weft::node
