// SPDX-License-Identifier: Apache-2.0
#include "profile/slot.h"

#include <algorithm>
#include <mutex>
#include <new>

#include <unistd.h>

#include "base/address_hash.h"
#include "platform/spinlock.h"
#include "profile/scale.h"

namespace weft::profile {

thread_local Slot* t_slot [[gnu::tls_model("initial-exec")]] = nullptr;
std::atomic<Slot*> g_slots{nullptr};

namespace {

platform::Spinlock g_slot_lock;  // of `in_use`, and of what is added to the list

Slot* take_free() noexcept {
  for (Slot* slot = g_slots.load(std::memory_order_relaxed); slot != nullptr; slot = slot->next) {
    if (!slot->in_use) return slot;
  }
  return nullptr;
}

}  // namespace

void begin_slot(bool root) noexcept {
  if (t_slot != nullptr) return;
  {
    const std::lock_guard guard(g_slot_lock);
    Slot* slot = take_free();
    if (slot == nullptr) {
      slot = new (std::nothrow) Slot;
      if (slot == nullptr) return;
      slot->next = g_slots.load(std::memory_order_relaxed);
      g_slots.store(slot, std::memory_order_release);
    }
    slot->in_use = true;
    t_slot = slot;
  }
  t_slot->begin(root);
}

void end_slot() noexcept {
  if (t_slot == nullptr) return;
  t_slot->end();
  const std::lock_guard guard(g_slot_lock);
  t_slot->in_use = false;
  t_slot = nullptr;
}

void Entry::add_length(int64_t ticks) noexcept {
  // A context that has moved to another CPU may see the clock go back.
  const auto length = static_cast<uint64_t>(std::max<int64_t>(ticks, 0));
  timed.add(1);
  timed_ticks.add(length);
  const auto ns = static_cast<uint64_t>(static_cast<double>(length) * ns_per_tick());
  const int power = ns == 0 ? 0 : 63 - __builtin_clzll(ns);
  lengths[static_cast<size_t>(std::min(power, kLengthClasses - 1))].add(1);
}

bool Entry::is_told() noexcept {
  if (until_told > 0) {
    --until_told;
    return false;
  }
  // Telling adds some 100 ns, and as much for each construct inside.
  constexpr double kShort = 20'000;
  constexpr uint64_t kAtLeast = 64;
  constexpr uint32_t kOneOf = 128;
  const uint64_t known = timed.get();
  const bool is_short =
      known >= kAtLeast && static_cast<double>(timed_ticks.get()) * ns_per_tick() < kShort * static_cast<double>(known);
  until_told = is_short ? draw(kOneOf) : 0;
  return true;
}

void Slot::begin(bool root) noexcept {
  depth_ = 1;
  too_deep_ = 0;
  carrier_ = -1;
  left_ = false;
  root_ = root;
  primary_ = root;
  frames_[0] = {};
  thread_.store(gettid(), std::memory_order_relaxed);
  if (root) {
    frames_[0].state = State::work;
    set_serial(nullptr);
  }
  publish();
}

void Slot::end() noexcept {
  depth_ = 1;
  root_ = false;
  frames_[0] = {};
  publish();
}

void Slot::continue_on(int carrier) noexcept {
  left_ = false;
  if (carrier != carrier_) {
    carrier_ = carrier;
    thread_.store(gettid(), std::memory_order_relaxed);
  }
  publish();
}

void Slot::set_serial(const void* caller) noexcept {
  Entry* entry = count(0, Kind::serial, caller);
  if (entry == nullptr) return;
  top().node = entry->node;
  top().last = 0;
  publish();
}

void Slot::push(NodeId node, State state) noexcept {
  if (depth_ == kMostFrames) {
    ++too_deep_;
    return publish(node, state);
  }
  frames_[depth_] = {node, state, primary_, 0, nullptr, 0, 0};
  ++depth_;
  publish();
}

Entry* Slot::push(Kind kind, const void* caller) noexcept {
  Entry* entry = entry_of(node(), kind, caller);
  push(entry != nullptr ? entry->node : node(), top().state);
  return entry;
}

void Slot::pop() noexcept {
  if (too_deep_ > 0) {
    // What is below is not known; most likely it works.
    if (--too_deep_ > 0) {
      publish(node(), State::work);
    } else {
      publish();
    }
    return;
  }
  drop_wait();
  if (depth_ == 1) return publish();
  end_piece(top());
  --depth_;
  primary_ = frames_[depth_].was_primary;
  publish();
}

// Takes the frame away, and leaves it to the caller to say what is seen now.
void Slot::drop_wait() noexcept {
  if (depth_ == 1 || top().state != State::wait_messages) return;
  --depth_;
  primary_ = frames_[depth_].was_primary;
}

void Slot::begin_wait(const char* name, const void* caller) noexcept {
  drop_wait();
  if (too_deep_ > 0 || depth_ == kMostFrames || top().state == State::out || top().state == State::untold) {
    return publish();
  }
  const Entry* entry = count(Kind::call, caller);
  if (entry != nullptr) g_nodes[entry->node].callee.store(name, std::memory_order_relaxed);
  push(entry != nullptr ? entry->node : node(), State::wait_messages);
}

void Slot::end_wait() noexcept {
  if (too_deep_ > 0) return;
  drop_wait();
  publish();
}

Entry* Slot::count(NodeId parent, Kind kind, const void* caller) noexcept {
  Entry* entry = entry_of(parent, kind, caller);
  if (entry != nullptr) entry->count.add(1);
  return entry;
}

void Slot::begin_piece(Entry* entry) noexcept {
  if (too_deep_ > 0) return;
  Frame& frame = top();
  end_piece(frame);
  if (!entry->is_timed()) return;
  frame.piece = entry;
  frame.until = 0;
  frame.since = platform::ticks();
}

void Slot::end_piece(Frame& frame) noexcept {
  if (frame.piece == nullptr) return;
  const bool asks_for_more = frame.piece->kind != Kind::task && frame.until != 0;
  frame.piece->add_length((asks_for_more ? frame.until : platform::ticks()) - frame.since);
  frame.piece = nullptr;
}

Entry* Slot::entry_of(NodeId parent, Kind kind, const void* caller) noexcept {
  const uintptr_t key = reinterpret_cast<uintptr_t>(caller) ^ (uintptr_t{parent} << 40) ^ static_cast<uintptr_t>(kind);
  Entry*& cached = cache_[base::address_hash<kCacheBits>(key)];
  const auto is_wanted = [&](const Entry& entry) {
    return entry.parent == parent && entry.kind == kind && entry.caller == caller;
  };
  if (cached != nullptr && is_wanted(*cached)) return cached;
  Entry* found = nullptr;
  for (Block* block = &first_; block != nullptr && found == nullptr;
       block = block->next.load(std::memory_order_relaxed)) {
    const size_t count = block->count.load(std::memory_order_relaxed);
    for (size_t i = 0; i < count && found == nullptr; ++i) {
      if (is_wanted(block->entries[i])) found = &block->entries[i];
    }
  }
  if (found == nullptr) found = make(parent, kind, caller);
  if (found != nullptr) cached = found;
  return found;
}

Entry* Slot::make(NodeId parent, Kind kind, const void* caller) noexcept {
  size_t count = last_block_->count.load(std::memory_order_relaxed);
  if (count == kBlock) {
    auto* block = new (std::nothrow) Block;
    if (block == nullptr) return nullptr;
    last_block_->next.store(block, std::memory_order_release);
    last_block_ = block;
    count = 0;
  }
  Entry& entry = last_block_->entries[count];
  entry.parent = parent;
  entry.kind = kind;
  entry.caller = caller;
  entry.node = g_nodes.child(parent, kind, caller);
  entry.random += entry.node;
  last_block_->count.store(count + 1, std::memory_order_release);
  return &entry;
}

}  // namespace weft::profile
