// SPDX-License-Identifier: Apache-2.0
#include "random/memory.h"

#include <algorithm>
#include <cstring>

namespace weft::explore {

namespace {

constexpr uintptr_t kGranule = 8;
constexpr size_t kMostStores = 24;  // of a word: older ones are forgotten

uint64_t value_at(uintptr_t address, uint32_t size) {
  uint64_t value = 0;
  std::memcpy(&value, reinterpret_cast<const void*>(address), size);
  return value;
}

bool acquires(int order) { return order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE; }
bool releases(int order) { return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST; }
bool is_strong(int order) { return order == __ATOMIC_SEQ_CST; }

MessagePointer both(const MessagePointer& one, const MessagePointer& other) {
  if (one == nullptr || one == other) return other;
  if (other == nullptr) return one;
  auto sum = std::make_shared<Message>(*one);
  sum->clock.join(other->clock);
  sum->view.join(other->view);
  return sum;
}

}  // namespace

void Memory::reset() {
  granules_.clear();
  threads_ = {};
  strong_ = {};
  words_ = 0;
  for (size_t i = 0; i < threads_.size(); ++i) threads_[i].clock.at[i] = 1;
}

void Memory::begin_thread(int thread) {
  Thread& made = threads_[static_cast<size_t>(thread)];
  made.clock.join(threads_[0].clock);
  made.view = threads_[0].view;
  ++threads_[0].clock.at[0];
}

void Memory::join_thread(int thread) {
  threads_[0].clock.join(threads_[static_cast<size_t>(thread)].clock);
  threads_[0].view.join(threads_[static_cast<size_t>(thread)].view);
}

Word& Memory::word_at(uintptr_t address, uint32_t size) {
  Granule& granule = granules_[address / kGranule];
  const uint64_t value = value_at(address, size);
  auto& words = granule.words;
  for (size_t i = 0; i < words.size(); ++i) {
    Word& word = *words[i];
    if (word.address != address || word.size != size) {
      // The same bytes as another word: that one's history ends, as nobody could say what parts of it are.
      if (word.address < address + size && address < word.address + word.size) {
        words.erase(words.begin() + static_cast<std::ptrdiff_t>(i--));
      }
      continue;
    }
    if (word.stores.back().value == value) return word;
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));  // changed by code that tells nothing
    break;
  }
  words.push_back(std::make_unique<Word>());
  Word& word = *words.back();
  word.address = address;
  word.size = size;
  word.number = words_++;
  word.stores.push_back({value, nullptr, 0, 0});
  return word;
}

uint32_t Memory::floor(int thread, const Word& word, int order) const {
  uint32_t oldest = std::max(word.first, threads_[static_cast<size_t>(thread)].view.of(word.number));
  if (is_strong(order)) oldest = std::max(oldest, strong_.of(word.number));
  return oldest;
}

void Memory::acquire(Thread& thread, const Store& store, int order) {
  if (store.message == nullptr) return;
  Clock& clock = acquires(order) ? thread.clock : thread.to_acquire.clock;
  View& view = acquires(order) ? thread.view : thread.to_acquire.view;
  clock.join(store.message->clock);
  view.join(store.message->view);
}

uint64_t Memory::load(int thread, Word& word, uint32_t store, int order) {
  Thread& self = threads_[static_cast<size_t>(thread)];
  const Store& read = word.store(store);
  self.view.raise(word.number, store);
  acquire(self, read, order);
  if (is_strong(order)) strong_.raise(word.number, store);
  return read.value;
}

void Memory::put(int thread, Word& word, uint64_t value, int order, const MessagePointer& before) {
  Thread& self = threads_[static_cast<size_t>(thread)];
  const uint32_t index = word.last() + 1;
  self.view.raise(word.number, index);
  MessagePointer own = self.released;
  if (releases(order)) {
    own = std::make_shared<const Message>(Message{self.clock, self.view});
    ++self.clock.at[static_cast<size_t>(thread)];
  }
  if (is_strong(order)) strong_.raise(word.number, index);
  word.stores.push_back({value, both(own, before), thread, self.stores++});
  if (word.stores.size() > kMostStores) {
    word.stores.erase(word.stores.begin());
    ++word.first;
  }
}

void Memory::store(int thread, Word& word, uint64_t value, int order) { put(thread, word, value, order, nullptr); }

// It goes on with the release sequence of what it replaces.
void Memory::update(int thread, Word& word, uint64_t value, int order) {
  load(thread, word, word.last(), order);
  const MessagePointer before = word.stores.back().message;
  put(thread, word, value, order, before);
}

void Memory::strong_fence(Thread& thread) {
  thread.view.join(strong_);
  strong_.join(thread.view);
}

void Memory::fence(int thread, int order) {
  if (order == __ATOMIC_RELAXED) return;
  Thread& self = threads_[static_cast<size_t>(thread)];
  if (acquires(order)) {
    self.clock.join(self.to_acquire.clock);
    self.view.join(self.to_acquire.view);
  }
  if (is_strong(order)) strong_fence(self);
  if (releases(order)) {
    self.released = std::make_shared<const Message>(Message{self.clock, self.view});
    ++self.clock.at[static_cast<size_t>(thread)];
  }
}

bool Memory::note_in(int thread, Granule& granule, uint8_t offset, uint8_t size, Kind kind, const void* place,
                     Race& race) {
  const Clock& clock = threads_[static_cast<size_t>(thread)].clock;
  Cell* own = nullptr;
  bool found = false;
  // Reads race with writes, writes with both; atomic accesses with plain ones only.
  const auto look = [&](const Cell& cell, Kind other) {
    for (size_t i = 0; i < kMostThreads; ++i) {
      if (static_cast<int>(i) == thread || cell.at[static_cast<size_t>(other)][i] <= clock.at[i]) continue;
      race = {cell.place[static_cast<size_t>(other)][i], static_cast<int>(i)};
      found = true;
    }
  };
  for (Cell& cell : granule.cells) {
    if (cell.offset == offset && cell.size == size) own = &cell;
    if (cell.offset >= offset + size || offset >= cell.offset + cell.size) continue;
    const bool plain = kind == Kind::plain_read || kind == Kind::plain_write;
    const bool writes = kind == Kind::plain_write || kind == Kind::atomic_write;
    look(cell, Kind::plain_write);
    if (writes) look(cell, Kind::plain_read);
    if (plain) look(cell, Kind::atomic_write);
    if (plain && writes) look(cell, Kind::atomic_read);
  }
  if (own == nullptr) {
    granule.cells.push_back({.offset = offset, .size = size});
    own = &granule.cells.back();
  }
  own->at[static_cast<size_t>(kind)][static_cast<size_t>(thread)] = clock.at[static_cast<size_t>(thread)];
  own->place[static_cast<size_t>(kind)][static_cast<size_t>(thread)] = place;
  return found;
}

bool Memory::note(int thread, uintptr_t address, uint32_t size, Kind kind, const void* place, Race& race) {
  bool found = false;
  while (size > 0) {
    const auto offset = static_cast<uint8_t>(address % kGranule);
    const auto here = static_cast<uint8_t>(std::min<uintptr_t>(size, kGranule - offset));
    found = note_in(thread, granules_[address / kGranule], offset, here, kind, place, race) || found;
    address += here;
    size -= here;
  }
  return found;
}

void Memory::overwrite(uintptr_t address, uint32_t size) {
  for (uintptr_t at = address / kGranule; at <= (address + size - 1) / kGranule; ++at) {
    const auto found = granules_.find(at);
    if (found == granules_.end()) continue;
    std::erase_if(found->second.words, [&](const std::unique_ptr<Word>& word) {
      return word->address < address + size && address < word->address + word->size;
    });
  }
}

}  // namespace weft::explore
