// SPDX-License-Identifier: Apache-2.0
#include "openmp/team/record_cache.h"

#include <new>

#include <sys/mman.h>

#include "base/keep_errno.h"
#include "base/message.h"
#include "platform/spinlock.h"

namespace weft::openmp {

constinit thread_local RecordCache* t_record_cache = nullptr;

namespace {

platform::Spinlock g_lock;
RecordCache* g_free = nullptr;

template <class Record>
Record* make(const char* what) noexcept {
  auto* record = new (std::nothrow) Record;
  if (record == nullptr) base::lacking("no memory for %s", what);
  return record;
}

// A thread's cache, with the frame that nearly every thread needs.
struct Store {
  RecordCache cache;
  Frame frame;
};

// Stores stand in memory of their own, which the thread that uses one is the first to touch. By malloc, that would be
// the first call of many threads, and make an arena for each: some ten pages, and two mappings. Guarded by `g_lock`.
constexpr int kAtOnce = 32;
Store* g_next = nullptr;
Store* g_end = nullptr;

void* take_room() noexcept {
  if (g_next == g_end) {
    const base::KeepErrno keep;
    void* more = mmap(nullptr, kAtOnce * sizeof(Store), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (more == MAP_FAILED) return nullptr;
    g_next = static_cast<Store*>(more);
    g_end = g_next + kAtOnce;
  }
  return g_next++;
}

}  // namespace

RecordCache* take_record_cache() noexcept {
  g_lock.lock();
  RecordCache* mine = g_free;
  void* room = nullptr;
  if (mine != nullptr) {
    g_free = mine->next_free;
  } else {
    room = take_room();
  }
  g_lock.unlock();
  if (mine == nullptr) {
    if (room == nullptr) base::lacking("no memory for %s", "a thread of OpenMP");
    auto* made = new (room) Store;
    mine = &made->cache;
    mine->frames = &made->frame;
  }
  t_record_cache = mine;
  return mine;
}

void put_record_cache() noexcept {
  RecordCache* mine = t_record_cache;
  if (mine == nullptr) return;
  t_record_cache = nullptr;
  mine->shown = PlacesShown();
  g_lock.lock();
  mine->next_free = g_free;
  g_free = mine;
  g_lock.unlock();
}

Member* take_frame() noexcept {
  RecordCache& mine = store();
  Frame* frame = mine.frames;
  if (frame != nullptr) {
    mine.frames = frame->next;
  } else {
    frame = make<Frame>("a parallel region");
  }
  return &frame->member;
}

void put_frame(Member* member) noexcept {
  auto* frame = reinterpret_cast<Frame*>(member);
  frame->next = store().frames;
  store().frames = frame;
}

Team* take_team() noexcept {
  RecordCache& mine = store();
  Team* team = mine.teams;
  if (team == nullptr) return make<Team>("a team of threads");
  mine.teams = team->next_free;
  return team;
}

void put_team(Team* team) noexcept {
  team->next_free = store().teams;
  store().teams = team;
}

TaskGroup* take_group() noexcept {
  RecordCache& mine = store();
  TaskGroup* group = mine.groups;
  if (group == nullptr) return make<TaskGroup>("a taskgroup");
  mine.groups = group->outer;
  return group;
}

void put_group(TaskGroup* group) noexcept {
  group->outer = store().groups;
  store().groups = group;
}

}  // namespace weft::openmp
