// SPDX-License-Identifier: Apache-2.0
#include "report/trace/sites.h"

#include <algorithm>
#include <bit>

#include "observe/account/meaning.h"

namespace weft::tools::report {

using observe::ConstructId;
using observe::Event;
using observe::Kind;

namespace {

void raise(std::atomic<int>& most, int value) {
  // Relaxed: there is no other thread.
  if (value > most.load(std::memory_order_relaxed)) most.store(value, std::memory_order_relaxed);
}

}  // namespace

NodesOfTrace::NodesOfTrace(const Trace& trace, const Contexts& contexts, const std::vector<bool>& in_runtime,
                           observe::ConstructTree& nodes)
    : trace_(trace),
      frames_(contexts.frames),
      in_runtime_(in_runtime),
      nodes_(nodes),
      found_(contexts.frames.size(), kUnknown),
      counts_(observe::ConstructTree::kMost) {
  const auto count = static_cast<int32_t>(frames_.size());
  for (int32_t i = 0; i < count; ++i) {
    const Frame& frame = frames_[static_cast<size_t>(i)];
    if (frame.what != Event::member) continue;
    const Slice& slice = trace_.slices[frame.slice];
    if (slice.member == 0) openers_.try_emplace(slice.team, i);
  }
  for (int32_t i = 0; i < count; ++i) this->count(frames_[static_cast<size_t>(i)], find(i, 0));
}

ConstructId NodesOfTrace::find(int32_t frame, int depth) {
  if (frame < 0) return 0;
  // Regions within each other without end, in a file that no program has left.
  constexpr int kDeepest = 1000;
  ConstructId& found = found_[static_cast<size_t>(frame)];
  if (found == kSought || depth > kDeepest) return 0;
  if (found == kUnknown) {
    found = kSought;
    const ConstructId made = make(frames_[static_cast<size_t>(frame)], depth + 1);
    found_[static_cast<size_t>(frame)] = made;
    return made;
  }
  return found;
}

ConstructId NodesOfTrace::child(ConstructId parent, Kind kind, uint32_t place) {
  const uint64_t address = place < trace_.places.size() ? trace_.places[place].address : 0;
  // Places without an address are told apart all the same.
  return nodes_.child(parent, kind, reinterpret_cast<const void*>(static_cast<uintptr_t>(address)));
}

ConstructId NodesOfTrace::region_of(uint64_t team, int depth, bool& is_known) {
  const auto opener = openers_.find(team);
  is_known = team != 0 && opener != openers_.end();
  return is_known ? find(opener->second, depth) : 0;
}

// As the events of src/observe/record/profile/events.cpp do.
ConstructId NodesOfTrace::make(const Frame& frame, int depth) {
  const Slice* slice = frame.what == Event::serial ? nullptr : &trace_.slices[frame.slice];
  switch (frame.what) {
    case Event::serial: return child(0, Kind::serial, frame.place);
    case Event::member: {
      bool is_known = false;
      if (slice->member != 0) {
        const ConstructId region = region_of(slice->team, depth, is_known);
        if (is_known) return region;
      }
      break;
    }
    // Tasks that tasks create belong to their region: chains of creators have no end.
    case Event::task: {
      bool is_known = false;
      const ConstructId region = region_of(slice->team, depth, is_known);
      return child(is_known ? region : nodes_[find(frame.parent, depth)].region, Kind::task, frame.place);
    }
    case Event::scope:
    case Event::tasks: return find(frame.parent, depth);
    case Event::implicit_barrier: return find(frame.last >= 0 ? frame.last : frame.parent, depth);
    case Event::barrier:
      if (frame.place < in_runtime_.size() && in_runtime_[frame.place]) return find(frame.parent, depth);
      break;
    default: break;
  }
  return child(find(frame.parent, depth), kind_of(frame.what), frame.place);
}

void NodesOfTrace::count(const Frame& frame, ConstructId node) {
  NodeCounts& counts = counts_[node];
  const auto time = [&] {
    const auto ns = static_cast<uint64_t>(std::max<int64_t>(0, frame.end - frame.begin));
    ++counts.timed;
    counts.timed_ns += static_cast<double>(ns);
    const size_t power = ns == 0 ? 0 : static_cast<size_t>(std::bit_width(ns)) - 1;
    ++counts.lengths[std::min(power, counts.lengths.size() - 1)];
  };
  const Slice* slice = frame.what == Event::serial ? nullptr : &trace_.slices[frame.slice];
  switch (frame.what) {
    case Event::member:
      raise(nodes_[node].members, slice->of);
      raise(nodes_[node].requested, slice->requested);
      if (slice->member != 0) return;
      ++counts.count;
      counts.iterations += slice->iterations;
      counts.stolen += slice->stolen;
      return time();
    case Event::task: ++counts.count; return time();
    case Event::loop:
    case Event::sections:
      if (frame.place < trace_.places.size() && frame.what == Event::loop) {
        // Relaxed: there is no other thread.
        nodes_[node].schedule.store(trace_.places[frame.place].schedule, std::memory_order_relaxed);
      }
      if (!frame.is_primary) return;
      ++counts.count;
      if (frame.what == Event::loop) counts.iterations += slice->iterations;
      return;
    case Event::barrier:
      if (frame.is_primary && nodes_[node].kind == Kind::barrier) ++counts.count;
      return;
    case Event::serial:
    case Event::single:
    case Event::masked:
    case Event::taskloop:
    case Event::critical:
    case Event::ordered:
    case Event::lock: ++counts.count; return;
    default: return;
  }
}

}  // namespace weft::tools::report
