// SPDX-License-Identifier: Apache-2.0
#include "report/trace/contexts.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>

#include "observe/account/meaning.h"
#include "observe/format/files.h"

namespace weft::tools::report {

namespace {

using observe::Event;
using observe::kThreadTracks;
using observe::State;

// More are not met in programs: the recorder of `weft report` has fewer.
constexpr size_t kMostOpen = 512;

bool is_held(Event what) { return what == Event::in_critical || what == Event::in_ordered; }

// Takes the slices of one context in the order of time.
class Context {
 public:
  Context(const Trace& trace, Contexts& into, int32_t number, const Trace::Root* root,
          const std::vector<const Call*>& calls)
      : trace_(trace), into_(into), number_(number), root_(root), calls_(calls) {
    if (root_ == nullptr) return;
    begin_serial(root_->began, 0);
    emit(root_->began);
  }

  void take(uint32_t number) {
    const Slice& slice = trace_.slices[number];
    if (slice.context >= 0) begin_piece(slice);
    if (goes_on(slice)) return;
    next_ = going_on_;
    leave_until(slice.begin);
    open(number, slice);
  }

  // Outside of everything else.
  void take_call(const Call& call) {
    if (root_ == nullptr || (has_piece_ && (paused_ || call.begin < piece_end_))) return;
    end_piece();
    leave_until(call.begin);
    if (!open_.empty() || call.begin < last_) return;
    emit(call.begin, true);
    emit(call.end);
  }

  void finish() {
    end_piece();
    leave_until(std::numeric_limits<int64_t>::max());
    if (root_ == nullptr && !paused_) return;
    Change change;
    change.time = std::max(last_, root_ != nullptr ? root_->ended : last_);
    change.context = number_;
    if (base_ >= 0) frame(base_).end = change.time;
    push(change);
  }

 private:
  struct Open {
    int32_t frame;
    int64_t end;      // as far as is known
    int64_t held;     // what follows
  };

  Frame& frame(int32_t number) { return into_.frames[static_cast<size_t>(number)]; }
  int32_t top() const { return open_.empty() ? base_ : open_.back().frame; }
  bool is_primary() { return top() >= 0 ? frame(top()).is_primary : root_ != nullptr; }

  int32_t add(Frame made) {
    made.parent = top();
    into_.frames.push_back(made);
    return static_cast<int32_t>(into_.frames.size()) - 1;
  }

  // A slice that lies in no other one: until its end the context stays on its carrier.
  void begin_piece(const Slice& slice) {
    end_piece();
    has_piece_ = true;
    carrier_ = slice.track < kThreadTracks ? slice.track : -1;
    next_ = 0;
    going_on_ = 0;
    if (paused_) {
      for (const Open& each : open_) going_on_ += is_held(frame(each.frame).what) ? 0 : 1;
      emit(slice.begin);
    }
    paused_ = slice.paused;
    piece_begin_ = slice.begin;
    piece_end_ = slice.end;
  }

  void end_piece() {
    if (!has_piece_) return;
    has_piece_ = false;
    // What the context has open when it pauses has been cut there.
    leave_until(paused_ ? piece_end_ - 1 : piece_end_);
    if (paused_) emit(piece_end_, true);
  }

  // Whether it is the rest of what the context had open before the pause.
  bool goes_on(const Slice& slice) {
    if (next_ >= going_on_ || slice.begin != piece_begin_) return false;
    size_t skipped = 0;
    for (Open& each : open_) {
      if (is_held(frame(each.frame).what)) continue;
      if (skipped++ != next_) continue;
      if (frame(each.frame).what != slice.what || frame(each.frame).place != slice.place) return false;
      ++next_;
      each.end = slice.end;
      each.held = slice.held;
      return true;
    }
    return false;
  }

  void leave_until(int64_t time) {
    for (;;) {
      const auto ended =
          std::find_if(open_.begin(), open_.end(), [time](const Open& each) { return each.end <= time; });
      if (ended == open_.end()) return;
      // Those inside end with it at the latest.
      leave(std::min(open_.back().end, ended->end));
    }
  }

  void leave(int64_t time) {
    const Open left = open_.back();
    open_.pop_back();
    Frame& ended = frame(left.frame);
    const Event what = ended.what;
    const uint32_t place = ended.place;
    time = std::max(time, last_);
    ended.end = std::max(time, ended.begin);
    if (top() >= 0) {
      if (names_waits(what)) frame(top()).last = left.frame;
      if (state_of(what) == State::wait_barrier) frame(top()).last = -1;
    }
    if (open_.empty() && what == Event::member && root_ != nullptr) begin_serial(time, place);
    if (left.held > 0) {
      Frame held{.begin = time, .slice = ended.slice, .place = place};
      held.what = what == Event::ordered ? Event::in_ordered : Event::in_critical;
      held.is_primary = is_primary();
      open_.push_back({add(held), time + left.held, 0});
    }
    emit(time);
  }

  // Behind the region at `place`, or before any.
  void begin_serial(int64_t time, uint32_t place) {
    if (base_ >= 0) frame(base_).end = time;
    into_.frames.push_back({.begin = time, .place = place, .is_primary = true});
    base_ = static_cast<int32_t>(into_.frames.size()) - 1;
  }

  void open(uint32_t number, const Slice& slice) {
    if (open_.size() >= kMostOpen) return;
    Frame made{.begin = std::max(slice.begin, last_), .slice = number, .place = slice.place};
    made.what = slice.what;
    made.is_primary = slice.what == Event::member ? slice.member == 0 : is_primary();
    if (is_wait(slice.what) && top() >= 0) made.last = frame(top()).last;
    const bool opens =
        slice.what == Event::member && slice.member == 0 && slice.opened >= last_ && slice.opened < slice.begin;
    if (opens) made.begin = slice.opened;
    const int32_t added = add(made);
    if (opens) {
      Change change = change_to(added);
      change.time = slice.opened;
      change.state = State::runtime;
      push(change);
    }
    open_.push_back({added, slice.end, slice.held});
    emit(slice.begin);
  }

  // Whether the context waits for other processes then. Its calls are in the order of time, and none is in another.
  bool is_in_call(int64_t time) const {
    const auto later = std::upper_bound(calls_.begin(), calls_.end(), time,
                                        [](int64_t at, const Call* call) { return at < call->begin; });
    return later != calls_.begin() && time < (*std::prev(later))->end;
  }

  Change change_to(int32_t number) {
    Change change;
    change.context = number_;
    change.frame = number;
    change.carrier = carrier_;
    change.is_root = root_ != nullptr;
    change.is_primary = number >= 0 ? frame(number).is_primary : root_ != nullptr;
    if (number >= 0) change.state = state_of(frame(number).what);
    return change;
  }

  void emit(int64_t time, bool left = false) {
    Change change = change_to(top());
    change.time = time;
    change.left = left;
    if (left && is_in_call(time)) change.state = State::wait_messages;
    push(change);
  }

  void push(Change change) {
    last_ = change.time = std::max(change.time, last_);
    change.number = static_cast<uint32_t>(into_.changes.size());
    into_.changes.push_back(change);
  }

  const Trace& trace_;
  Contexts& into_;
  const int32_t number_;
  const Trace::Root* const root_;
  const std::vector<const Call*>& calls_;
  std::vector<Open> open_;
  int32_t base_ = -1;  // the serial part of a thread of the program's
  int32_t carrier_ = -1;
  int64_t last_ = 0;  // time of the last change
  int64_t piece_begin_ = 0;
  int64_t piece_end_ = 0;
  bool has_piece_ = false;
  bool paused_ = false;
  size_t going_on_ = 0;  // of what was open before the pause, pieces that are to come
  size_t next_ = 0;
};

// By context, in the order of time: slices lie in one another, those outermost say whose they are.
std::map<int32_t, std::vector<uint32_t>> by_context(const Trace& trace) {
  std::map<int32_t, std::vector<uint32_t>> slices;
  std::vector<std::pair<int64_t, int32_t>> around;  // ends and contexts
  for (size_t i = 0; i < trace.slices.size(); ++i) {
    const Slice& slice = trace.slices[i];
    if (i > 0 && slice.track != trace.slices[i - 1].track) around.clear();
    while (!around.empty() && (slice.context >= 0 || around.back().first < slice.end)) around.pop_back();
    if (slice.context < 0 && around.empty()) continue;
    const int32_t context = slice.context >= 0 ? slice.context : around.back().second;
    around.emplace_back(slice.end, context);
    slices[context].push_back(static_cast<uint32_t>(i));
  }
  for (auto& [context, numbers] : slices) {
    std::sort(numbers.begin(), numbers.end(), [&](uint32_t a, uint32_t b) {
      const int64_t one = trace.slices[a].begin;
      const int64_t other = trace.slices[b].begin;
      return one != other ? one < other : a < b;
    });
  }
  return slices;
}

}  // namespace

Contexts contexts_of(const Trace& trace) {
  std::map<int32_t, std::vector<uint32_t>> slices = by_context(trace);
  std::map<int32_t, std::vector<const Call*>> calls;
  for (const Call& call : trace.calls) calls[call.context].push_back(&call);
  std::map<int32_t, const Trace::Root*> roots;
  for (const Trace::Root& root : trace.roots) {
    roots[root.context] = &root;
    slices[root.context];
  }
  Contexts made;
  for (const auto& [number, numbers] : slices) {
    const auto root = roots.find(number);
    const std::vector<const Call*>& own = calls[number];
    Context context(trace, made, made.count++, root != roots.end() ? root->second : nullptr, own);
    auto call = own.begin();
    for (const uint32_t slice : numbers) {
      for (; call != own.end() && (*call)->end <= trace.slices[slice].begin; ++call) context.take_call(**call);
      context.take(slice);
    }
    for (; call != own.end(); ++call) context.take_call(**call);
    context.finish();
  }
  std::sort(made.changes.begin(), made.changes.end(),
            [](const Change& a, const Change& b) { return a.time != b.time ? a.time < b.time : a.number < b.number; });
  return made;
}

}  // namespace weft::tools::report
