// SPDX-License-Identifier: Apache-2.0
#include "observe/record/profile/context_record.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include <unistd.h>

#include "base/address_hash.h"
#include "observe/record/profile/scale.h"
#include "platform/spinlock.h"

namespace weft::observe {

thread_local ContextRecord* t_record [[gnu::tls_model("initial-exec")]] = nullptr;
std::atomic<ContextRecord*> g_records{nullptr};
uint32_t g_recordings = 0;

namespace {

platform::Spinlock g_record_lock;  // of `in_use`, and of what is added to the list

// Of short regions of which nothing is told the runtime asks for one of some.
constexpr uint32_t kAskedOneOf = 32;

// A region that is told, of a site of which others are not: it takes longer than those.
bool is_watched_for_others(State state, const Entry& entry) noexcept {
  return entry.kind == Kind::region && state != State::unwatched && entry.has_unwatched();
}

ContextRecord* take_free() noexcept {
  for (ContextRecord* record = g_records.load(std::memory_order_relaxed); record != nullptr; record = record->next) {
    if (!record->in_use) return record;
  }
  return nullptr;
}

}  // namespace

void begin_record(bool root) noexcept {
  if (t_record != nullptr) return;
  {
    const std::lock_guard guard(g_record_lock);
    ContextRecord* record = take_free();
    if (record == nullptr) {
      record = new (std::nothrow) ContextRecord;
      if (record == nullptr) return;
      record->next = g_records.load(std::memory_order_relaxed);
      g_records.store(record, std::memory_order_release);
    }
    record->in_use = true;
    t_record = record;
  }
  t_record->begin(root);
}

void end_record() noexcept {
  if (t_record == nullptr) return;
  t_record->end();
  const std::lock_guard guard(g_record_lock);
  t_record->in_use = false;
  t_record = nullptr;
}

void Entry::add_length(int64_t ticks) noexcept {
  // A context that has moved to another CPU may see the clock go back.
  const auto length = static_cast<uint64_t>(std::max<int64_t>(ticks, 0));
  constexpr uint64_t kFar = 32;
  if (lengths_known() >= kAllTimed && length / kFar * lengths_known() > ticks_known()) {
    far_longer.add(1);
    far_longer_ticks.add(length);
  }
  longest = std::max(longest, length);
  timed.add(1);
  timed_ticks.add(length);
  const auto ns = static_cast<uint64_t>(static_cast<double>(length) * ns_per_tick());
  const int power = ns == 0 ? 0 : 63 - __builtin_clzll(ns);
  lengths[static_cast<size_t>(std::min(power, kLengthClasses - 1))].add(1);
}

bool Entry::is_shorter_than(double ns) const noexcept {
  constexpr uint64_t kAtLeast = 64;
  const uint64_t known = lengths_known();
  // The longest one does not count: the first is when threads are made, and in another the system takes the CPU away.
  return known >= kAtLeast &&
         static_cast<double>(ticks_known() - longest) * ns_per_tick() < ns * static_cast<double>(known);
}

bool Entry::is_watched() noexcept {
  note_recording();
  if (until_watched > 0) {
    --until_watched;
    return false;
  }
  until_watched = has_short_regions() ? draw(one_of(512)) : 0;
  return true;
}

// Telling adds some 100 ns, and as much for each construct inside. A long one may be the first of many.
bool Entry::has_short_regions() const noexcept {
  constexpr double kShort = 20'000;
  return is_shorter_than(kShort) && static_cast<double>(last) * ns_per_tick() < 2 * kShort;
}

// The more is known, the fewer.
uint32_t Entry::one_of(uint32_t most) const noexcept {
  return static_cast<uint32_t>(std::clamp<uint64_t>(lengths_known() / 16, 1, most));
}

// Telling adds some 100 ns.
bool Entry::has_short_chunks() noexcept {
  note_recording();
  return is_shorter_than(5'000);
}

void ContextRecord::begin(bool root) noexcept {
  end_work();
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

void ContextRecord::end() noexcept {
  settle();
  end_work();
  depth_ = 1;
  root_ = false;
  frames_[0] = {};
  publish();
}

void ContextRecord::continue_on(int carrier) noexcept {
  left_ = false;
  if (carrier != carrier_) {
    carrier_ = carrier;
    thread_.store(gettid(), std::memory_order_relaxed);
  }
  publish();
}

void ContextRecord::set_serial(const void* caller) noexcept {
  settle();
  Entry* entry = count(0, Kind::serial, caller);
  if (entry == nullptr) return;
  top().node = entry->node;
  top().last = 0;
  publish();
}

void ContextRecord::push(ConstructId node, State state) noexcept {
  settle();
  if (depth_ == kMostFrames) {
    ++too_deep_;
    return publish(node, state);
  }
  frames_[depth_] = {node, state, State::work, primary_, 0, nullptr, 0, 0};
  ++depth_;
  publish();
}

Entry* ContextRecord::push(Kind kind, const void* caller) noexcept {
  Entry* entry = entry_of(node(), kind, caller);
  // Called back by the library in whose call it waits.
  const State state = top().state == State::wait_messages ? State::work : top().state;
  push(entry != nullptr ? entry->node : node(), state);
  return entry;
}

void ContextRecord::pop() noexcept {
  settle();
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

void ContextRecord::end_unwatched_region() noexcept {
  const ConstructNode& region = g_nodes[node()];
  // Of one that has begun while nothing was recorded the node is that around it.
  const bool is_known = too_deep_ == 0 && top().state == State::unwatched;
  pop();
  Entry* entry = is_known ? entry_of(node(), Kind::region, region.caller) : nullptr;
  if (entry == nullptr) return;
  if (!entry->has_short_regions()) entry->until_watched = 0;
  const uint32_t regions = std::min(entry->draw(entry->one_of(kAskedOneOf)), entry->until_watched);
  if (regions == 0) return;
  entry->until_watched -= regions;
  entry->count.add(regions);
  entry->unwatched.add(regions);
  Shown inside = shown();
  const uint64_t outside = inside.packed();
  inside.node = entry->node;
  inside.state = State::unwatched;
  skip_.codeptr_ra = region.caller;
  // Relaxed: published below.
  std::atomic_ref(skip_.left).store(regions, std::memory_order_relaxed);
  skip_.inside = 0;
  skip_.shown = &shown_;
  skip_.toggles = outside ^ inside.packed();
  skip_.valid = &g_recordings;
  skip_.expected = entry->recording;
  // Release: a thread that sees the entry sees how many are left.
  skipped_.store(entry, std::memory_order_release);
}

// Relaxed: the context alone writes these; what a reader makes of them in between is off by regions counted ahead.
void ContextRecord::stop_skipping() noexcept {
  Entry* entry = skipped_.load(std::memory_order_relaxed);
  skipped_.store(nullptr, std::memory_order_relaxed);
  const std::atomic_ref left(skip_.left);
  const uint32_t regions = left.load(std::memory_order_relaxed);
  left.store(0, std::memory_order_relaxed);
  entry->until_watched += regions;
  entry->count.take_back(regions);
  entry->unwatched.take_back(regions);
  if (std::exchange(skip_.inside, 0) != 0) push(entry->node, State::unwatched);
}

// Takes the frame away, and leaves it to the caller to say what is seen now.
void ContextRecord::drop_wait() noexcept {
  if (depth_ == 1 || top().state != State::wait_messages) return;
  --depth_;
  primary_ = frames_[depth_].was_primary;
}

void ContextRecord::begin_wait(const char* name, const void* caller) noexcept {
  settle();
  drop_wait();
  const State around = top().state;
  const bool is_known = around != State::out && around != State::unwatched && around != State::unseen && is_recording();
  if (!is_known || too_deep_ > 0 || depth_ == kMostFrames) return publish();
  const Entry* entry = count(Kind::call, caller);
  // Relaxed: the name is a constant of the library's.
  if (entry != nullptr && g_nodes[entry->node].kind == Kind::call)
    g_nodes[entry->node].callee.store(name, std::memory_order_relaxed);
  push(entry != nullptr ? entry->node : node(), State::wait_messages);
}

void ContextRecord::end_wait() noexcept {
  settle();
  if (too_deep_ > 0) return;
  drop_wait();
  publish();
}

Entry* ContextRecord::count(ConstructId parent, Kind kind, const void* caller) noexcept {
  Entry* entry = entry_of(parent, kind, caller);
  if (entry != nullptr) entry->count.add(1);
  return entry;
}

void ContextRecord::begin_piece(Entry* entry) noexcept {
  if (too_deep_ > 0) return;
  Frame& frame = top();
  end_piece(frame);
  // Of regions that are not told few are asked for, so all of these are timed.
  if (frame.state == State::unwatched || is_watched_for_others(frame.state, *entry) || entry->is_timed()) {
    start_clock(frame, entry, platform::ticks());
  }
}

void ContextRecord::begin_chunk(Entry* entry) noexcept {
  if (too_deep_ > 0) return;
  Frame& frame = top();
  const bool was_timed = frame.piece != nullptr;
  end_piece(frame);
  frame.outside = State::work;
  if (entry->has_short_chunks() ? !was_timed : entry->is_timed()) start_clock(frame, entry, 0);
}

uint32_t ContextRecord::leave_out(Entry* entry) noexcept {
  Frame& frame = top();
  if (too_deep_ > 0 || frame.piece != nullptr || work_of_ != nullptr || !entry->has_short_chunks()) return 0;
  constexpr uint32_t kOneOf = 256;
  const uint32_t chunks = entry->draw(kOneOf);
  entry->pieces.add(chunks);
  entry->unwatched.add(chunks);
  if (chunks > 0) frame.outside = State::unwatched_chunks;
  return chunks;
}

bool ContextRecord::begin_work(Entry* entry) noexcept {
  if (work_of_ != nullptr) return false;
  work_of_ = entry;
  works_since_ = 0;
  clock_work(too_deep_ == 0 && top().state == State::work && !left_);
  return true;
}

void ContextRecord::end_work() noexcept {
  if (work_of_ != nullptr) clock_work(false);
  work_of_ = nullptr;
}

void ContextRecord::clock_work(bool works) noexcept {
  if (works == (works_since_ != 0)) return;
  const int64_t now = platform::ticks();
  if (!works)
    work_of_->sampled_work.add(static_cast<uint64_t>(std::max<int64_t>(now - works_since_ - chunk_ticks(), 0)));
  works_since_ = works ? now : 0;
}

void ContextRecord::start_clock(Frame& frame, Entry* entry, int64_t since) noexcept {
  frame.piece = entry;
  frame.until = 0;
  frame.since = since;
}

void ContextRecord::end_piece(Frame& frame) noexcept {
  Entry* entry = frame.piece;
  if (entry == nullptr) return;
  frame.piece = nullptr;
  if (frame.since == 0) return;
  const bool asks_for_more = entry->kind != Kind::task && frame.until != 0;
  const int64_t length = (asks_for_more ? frame.until : platform::ticks()) - frame.since;
  entry->last = static_cast<uint64_t>(std::max<int64_t>(length, 0));
  if (!is_watched_for_others(frame.state, *entry)) {
    entry->add_length(entry->kind == Kind::loop ? length - chunk_ticks() : length);
  }
}

Entry* ContextRecord::entry_of(ConstructId parent, Kind kind, const void* caller) noexcept {
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

Entry* ContextRecord::make(ConstructId parent, Kind kind, const void* caller) noexcept {
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

}  // namespace weft::observe
