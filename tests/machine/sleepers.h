// SPDX-License-Identifier: Apache-2.0
// Who sleeps on which futex.
#pragma once

#include <algorithm>
#include <vector>

namespace weft::machine {

// `Thread` has `word`: null while it does not sleep here.
template <class Thread>
class Sleepers {
 public:
  void add(Thread& thread, const void* word) {
    thread.word = word;
    asleep_.push_back(&thread);
  }
  void remove(Thread& thread) {
    thread.word = nullptr;
    asleep_.erase(std::find(asleep_.begin(), asleep_.end(), &thread));
  }
  // The one that has slept for longest; null: nobody sleeps on that word.
  Thread* first(const void* word) const {
    const auto found =
        std::find_if(asleep_.begin(), asleep_.end(), [word](Thread* thread) { return thread->word == word; });
    return found != asleep_.end() ? *found : nullptr;
  }
  void clear() { asleep_.clear(); }

 private:
  std::vector<Thread*> asleep_;  // the longest first
};

}  // namespace weft::machine
