// SPDX-License-Identifier: Apache-2.0
// Memory as C++ promises it, and no better: a load may return any store that nothing excludes. Who has seen what is
// kept as in the "views" of Kang et al., "A promising semantics for relaxed-memory concurrency" (POPL 2017), without
// promises. Which accesses are ordered is kept as vector clocks, which also tell data races.
//
// The stores to a word have the order in which they happen here. So nothing is found that needs a store to come before
// one that has happened earlier, nor a load that returns what is stored later.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace weft::explore {

inline constexpr int kMostThreads = 8;  // with the one that sets up and checks, number 0

struct Clock {
  std::array<uint32_t, kMostThreads> at{};
  void join(const Clock& other) {
    for (size_t i = 0; i < at.size(); ++i) at[i] = at[i] > other.at[i] ? at[i] : other.at[i];
  }
};

// For each word by its number: stores before this one are not seen any more.
struct View {
  std::vector<uint32_t> from;
  uint32_t of(uint32_t word) const { return word < from.size() ? from[word] : 0; }
  void raise(uint32_t word, uint32_t store) {
    if (from.size() <= word) from.resize(word + 1);
    if (from[word] < store) from[word] = store;
  }
  void join(const View& other) {
    if (from.size() < other.from.size()) from.resize(other.from.size());
    for (size_t i = 0; i < other.from.size(); ++i) from[i] = from[i] > other.from[i] ? from[i] : other.from[i];
  }
};

// What one who acquires gets from one who has released.
struct Message {
  Clock clock;
  View view;
};
using MessagePointer = std::shared_ptr<const Message>;

struct Store {
  uint64_t value = 0;
  MessagePointer message;  // null: there is nothing to acquire
  int thread = 0;
  uint32_t of_thread = 0;  // how many stores that thread has made before
  uint64_t identity() const { return static_cast<uint64_t>(thread) << 32 | of_thread; }
};

struct Word {
  uintptr_t address = 0;
  uint32_t size = 0;
  uint32_t number = 0;
  uint32_t first = 0;  // older stores have been forgotten
  std::vector<Store> stores;
  uint32_t last() const { return first + static_cast<uint32_t>(stores.size()) - 1; }
  const Store& store(uint32_t index) const { return stores[index - first]; }
};

enum class Kind : uint8_t { plain_read, plain_write, atomic_read, atomic_write };

// Two accesses that nothing orders, one of them plain.
struct Race {
  const void* earlier = nullptr;  // its place in the program
  int thread = 0;
};

class Memory {
 public:
  // Forgets all; nobody has seen anything.
  void reset();
  void begin_thread(int thread);  // after what thread 0 has done so far
  void join_thread(int thread);  // before what thread 0 does from now on

  Word& word_at(uintptr_t address, uint32_t size);
  // The oldest store that a load of this order may return.
  uint32_t floor(int thread, const Word& word, int order) const;
  uint64_t load(int thread, Word& word, uint32_t store, int order);
  void store(int thread, Word& word, uint64_t value, int order);
  // The new value instead of the newest.
  void update(int thread, Word& word, uint64_t value, int order);
  void fence(int thread, int order);

  // Notes a plain access, or an atomic one by its place. True: it races with what `race` says.
  bool note(int thread, uintptr_t address, uint32_t size, Kind kind, const void* place, Race& race);
  // Stores to a word that are plain end its history.
  void overwrite(uintptr_t address, uint32_t size);

 private:
  struct Thread {
    Clock clock;
    View view;
    // For fences: what loads without acquire could have got, and what stores without release pass on.
    Message to_acquire;
    MessagePointer released;
    uint32_t stores = 0;
  };
  // Accesses of the same bytes, by kind and thread.
  struct Cell {
    uint8_t offset = 0;
    uint8_t size = 0;
    std::array<std::array<uint32_t, kMostThreads>, 4> at{};
    std::array<std::array<const void*, kMostThreads>, 4> place{};
  };
  struct Granule {
    std::vector<Cell> cells;
    std::vector<std::unique_ptr<Word>> words;
  };

  void acquire(Thread& thread, const Store& store, int order);
  void put(int thread, Word& word, uint64_t value, int order, const MessagePointer& before);
  bool note_in(int thread, Granule& granule, uint8_t offset, uint8_t size, Kind kind, const void* place, Race& race);
  void strong_fence(Thread& thread);

  std::unordered_map<uintptr_t, Granule> granules_;
  std::array<Thread, kMostThreads> threads_;
  View strong_;  // what sequentially consistent operations have agreed on
  uint32_t words_ = 0;
};

}  // namespace weft::explore
