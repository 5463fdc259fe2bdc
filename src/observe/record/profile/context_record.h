// SPDX-License-Identifier: Apache-2.0
// What a context (to OMPT, a thread) is in: a stack of frames that only it changes, the innermost of them published in
// one word for the sampler, and its counts. A record outlives its context, and serves another one then.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "observe/account/construct_tree.h"
#include "observe/account/shown.h"
#include "platform/cycles.h"
#include "weft/weft-tools.h"

namespace weft::observe {

// How often recording has begun or ended in this process: odd while it runs (recording.h). Relaxed everywhere: a
// context that learns late of a recording belongs to it late.
extern uint32_t g_recordings;
inline uint32_t recordings() noexcept { return std::atomic_ref(g_recordings).load(std::memory_order_relaxed); }
inline bool is_recording() noexcept { return (recordings() & 1) != 0; }
inline void next_recording() noexcept { std::atomic_ref(g_recordings).fetch_add(1, std::memory_order_relaxed); }

// A number that one context writes and others read at any time. Relaxed: figures for a report.
class Count {
 public:
  void add(uint64_t more) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  void take_back(uint64_t some) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) - some, std::memory_order_relaxed);
  }
  uint64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

// What a context has counted at a node.
struct Entry {
  ConstructId parent = 0;
  Kind kind = Kind::program;
  const void* caller = nullptr;
  ConstructId node = 0;
  Count count;
  Count iterations;
  Count pieces;  // chunks
  Count stolen;
  Count timed;
  Count timed_ticks;
  Count far_longer;  // of `timed`: than the mean was then
  Count far_longer_ticks;
  std::array<Count, kLengthClasses> lengths;
  Count unwatched;  // regions of `count`, or chunks of `pieces`, of which nothing was told
  // Of regions, as soon as some of them are not told: how many are, and how long their members have worked. They are
  // not among `timed`.
  Count sampled;
  Count sampled_work;
  uint64_t longest = 0;  // of `timed_ticks`, in this recording
  uint64_t last = 0;     // length that was timed, also of those that do not count
  uint32_t recording = 0;  // the one that is known here
  // What was counted before it: lengths say nothing of the present one, whose data may be others.
  uint64_t timed_before = 0;
  uint64_t ticks_before = 0;
  uint64_t unwatched_before = 0;
  uint32_t until_timed = 0;  // pieces that are not timed before the next one that is
  uint32_t until_watched = 0;   // regions likewise
  uint32_t random = 1;

  static constexpr uint64_t kAllTimed = 256;
  // Whether the length of the next piece is to be measured: of all at first, of one of sixteen later.
  bool is_timed() noexcept {
    constexpr uint32_t kOneOf = 16;
    note_recording();
    if (lengths_known() < kAllTimed) return true;
    if (until_timed-- != 0) return false;
    until_timed = draw(kOneOf);
    return true;
  }

  // How many to leave out before the next one, `one_of` - 1 on the average: by chance, since a program may take a site
  // for one thing and another in turn. Marsaglia, "Xorshift RNGs" (2003).
  uint32_t draw(uint32_t one_of) noexcept {
    random ^= random << 13;
    random ^= random >> 17;
    random ^= random << 5;
    return random % (2 * one_of - 1);
  }
  void add_length(int64_t ticks) noexcept;
  void note_recording() noexcept {
    const uint32_t now = recordings();
    if (recording == now) return;
    recording = now;
    timed_before = timed.get();
    ticks_before = timed_ticks.get();
    unwatched_before = unwatched.get();
    longest = 0;
    until_timed = 0;
    until_watched = 0;
  }
  // Of this recording.
  uint64_t lengths_known() const noexcept { return timed.get() - timed_before; }
  uint64_t ticks_known() const noexcept { return timed_ticks.get() - ticks_before; }
  bool has_unwatched() const noexcept { return unwatched.get() != unwatched_before; }

  // Whether the region that is about to begin is to be told: of those that are short on the average one of some.
  bool is_watched() noexcept;
  // Whether some of its chunks need not be told.
  bool has_short_chunks() noexcept;
  // Whether some of those that follow need not be told.
  bool has_short_regions() const noexcept;
  // One of how many is to be looked at: of `most`, as soon as so many lengths are known.
  uint32_t one_of(uint32_t most) const noexcept;

 private:
  bool is_shorter_than(double ns) const noexcept;
};

class ContextRecord {
 public:
  // ---- by the context ----

  void begin(bool root) noexcept;
  void end() noexcept;

  // A construct is entered; the state is that of what is around it.
  Entry* push(Kind kind, const void* caller) noexcept;
  void push(ConstructId node, State state) noexcept;
  // The innermost frame is left. Does nothing where only the outermost one is there.
  void pop() noexcept;

  // The context waits for other processes, in a call at `caller`. Such frames are no more than the innermost one: a
  // call that a callback makes takes the place of the one around it, and one that its thread has left by longjmp goes
  // with the next frame that is left, or the next call. What is not told of stays so.
  void begin_wait(const char* name, const void* caller) noexcept;
  void end_wait() noexcept;

  // From here on, until end_work(), the time that the context works is added to the entry's; false: it is added to
  // another one's already.
  bool begin_work(Entry* entry) noexcept;
  void end_work() noexcept;

  void enter_runtime() noexcept {
    settle();
    if (too_deep_ > 0) return;
    Frame& top = this->top();
    if (top.piece != nullptr) top.until = platform::ticks();
    if (top.state == top.outside) set_state(State::runtime);
  }
  void leave_runtime() noexcept {
    settle();
    Frame& top = this->top();
    if (top.state == State::runtime) set_state(top.outside);
    if (top.piece != nullptr && top.since == 0) top.since = platform::ticks();
  }
  void set_state(State state) noexcept {
    settle();
    if (too_deep_ > 0) return;
    top().state = state;
    publish();
  }

  void leave_carrier() noexcept {
    left_ = true;
    publish();
  }
  void continue_on(int carrier) noexcept;

  // Counts without entering.
  Entry* count(Kind kind, const void* caller) noexcept { return count(node(), kind, caller); }
  Entry* count(ConstructId parent, Kind kind, const void* caller) noexcept;
  // Neither; null without memory.
  Entry* entry_of(ConstructId parent, Kind kind, const void* caller) noexcept;

  ConstructId node() noexcept {
    settle();
    return frames_[depth_ - 1].node;
  }
  ConstructId region() noexcept { return g_nodes[node()].region; }

  // A piece of work of `entry` begins in the innermost frame. It ends with the frame, or where the next one begins; of
  // these two, a chunk ends with the call that has asked for more.
  void begin_piece(Entry* entry) noexcept;
  // The same of a chunk. Where chunks are short, one is timed, and then some are left out: how many says leave_out().
  void begin_chunk(Entry* entry) noexcept;
  uint32_t leave_out(Entry* entry) noexcept;

  // The last construct that the member has left, by which waits behind it are named; 0: none.
  ConstructId last_construct() const noexcept { return frames_[depth_ - 1].last; }
  void set_last_construct(ConstructId node) noexcept {
    if (too_deep_ == 0) top().last = node;
  }

  // Whether the context is member 0 of the innermost region, which counts what all members meet.
  void set_primary(bool primary) noexcept {
    if (too_deep_ == 0) primary_ = primary;
  }
  bool is_primary() const noexcept { return primary_; }

  // Behind a region of the outermost level: where the thread of the program is now.
  void set_serial(const void* caller) noexcept;
  bool is_serial() noexcept {
    settle();
    return depth_ == 1 && root_;
  }

  // The innermost frame, a region of which nothing is told, is left. The next ones of the same place need not even be
  // asked for, until the context is told anything else. The runtime finds them in skip().
  void end_unwatched_region() noexcept;
  weft_region_skip_t* skip() noexcept { return &skip_; }

  // ---- by anybody ----

  Shown shown() const noexcept { return Shown::of(std::atomic_ref(shown_).load(std::memory_order_acquire)); }
  int thread() const noexcept { return thread_.load(std::memory_order_relaxed); }
  // Acquire pairs with the release where an entry is made.
  template <class Visit>
  void visit(Visit&& visit) const noexcept {
    for (const Block* block = &first_; block != nullptr; block = block->next.load(std::memory_order_acquire)) {
      const size_t count = block->count.load(std::memory_order_acquire);
      for (size_t i = 0; i < count; ++i) visit(block->entries[i]);
    }
  }
  // Regions that were counted beforehand, and have not begun yet: they are to be taken off those of the node.
  struct Ahead {
    ConstructId node;
    uint32_t regions;
  };
  Ahead ahead() const noexcept {
    // Acquire pairs with the release of end_unwatched_region(). Relaxed: a figure for a report.
    const Entry* entry = skipped_.load(std::memory_order_acquire);
    const std::atomic_ref left(skip_.left);
    return entry != nullptr ? Ahead{entry->node, left.load(std::memory_order_relaxed)} : Ahead{0, 0};
  }

  ContextRecord* next = nullptr;  // of the list of all
  bool in_use = false;  // guarded by the list's lock

 private:
  struct Frame {
    ConstructId node = 0;
    State state = State::out;
    State outside = State::work;  // of the runtime
    bool was_primary = false;  // before it
    ConstructId last = 0;
    Entry* piece = nullptr;  // that is being timed
    int64_t since = 0;  // 0: from where the context leaves the runtime
    int64_t until = 0;  // the last call of the runtime since then; 0: none
  };
  static constexpr int kMostFrames = 96;

  static constexpr size_t kBlock = 16;
  struct Block {
    std::array<Entry, kBlock> entries;
    std::atomic<size_t> count{0};
    std::atomic<Block*> next{nullptr};
  };
  // The context's own way to its entries.
  static constexpr unsigned kCacheBits = 7;

  Frame& top() noexcept { return frames_[depth_ - 1]; }
  // Before any change: regions that need not be asked for end here, and the one that the context is in becomes a frame.
  void settle() noexcept {
    if (skipped_.load(std::memory_order_relaxed) != nullptr) stop_skipping();
  }
  void stop_skipping() noexcept;
  void clock_work(bool works) noexcept;
  void end_piece(Frame& frame) noexcept;
  static void start_clock(Frame& frame, Entry* entry, int64_t since) noexcept;
  void drop_wait() noexcept;
  Entry* make(ConstructId parent, Kind kind, const void* caller) noexcept;

  void publish() noexcept { publish(frames_[depth_ - 1].node, frames_[depth_ - 1].state); }
  void publish(ConstructId node, State state) noexcept {
    if (work_of_ != nullptr) clock_work(state == State::work && !left_);
    Shown shown;
    shown.node = node;
    shown.state = state;
    shown.primary = primary_;
    shown.root = root_;
    shown.left = left_;
    shown.carrier = carrier_;
    // Where the context leaves its carrier, or goes on, inside of a region that was not asked for.
    const uint64_t toggles = skip_.inside != 0 ? skip_.toggles : 0;
    // Release: a thread that sees a node's number here sees the node, which never goes away.
    std::atomic_ref(shown_).store(shown.packed() ^ toggles, std::memory_order_release);
  }

  // On a line of its own: the sampler reads it, the context writes it at each event.
  // Through std::atomic_ref alone.
  alignas(128) mutable uint64_t shown_ = 0;
  std::atomic<int> thread_{0};  // the kernel's number of the OS thread it was on last

  alignas(128) int depth_ = 1;
  int too_deep_ = 0;  // frames that found no room
  int carrier_ = -1;
  bool left_ = false;
  bool root_ = false;
  bool primary_ = false;
  Entry* work_of_ = nullptr;
  int64_t works_since_ = 0;  // ticks; 0: it does not
  mutable weft_region_skip_t skip_{};  // `left` through std::atomic_ref alone
  std::atomic<Entry*> skipped_{nullptr};  // whose regions need not be asked for
  std::array<Frame, kMostFrames> frames_{};
  std::array<Entry*, 1u << kCacheBits> cache_{};
  Block* last_block_ = &first_;
  Block first_;
};

// The caller's; null before begin_record() and after end_record().
extern thread_local ContextRecord* t_record [[gnu::tls_model("initial-exec")]];

void begin_record(bool root) noexcept;
void end_record() noexcept;

// Newest first. Acquire pairs with the release of begin_record().
extern std::atomic<ContextRecord*> g_records;

}  // namespace weft::observe
