// SPDX-License-Identifier: Apache-2.0
#include "openmp/record/record_cache.h"

#include <cstddef>
#include <cstdlib>
#include <new>

#include "base/message.h"
#include "platform/spinlock.h"

namespace weft::openmp {

constinit thread_local RecordCache* t_record_cache = nullptr;

namespace {

// What each thread of OpenMP needs at first.
struct FirstRecords {
  RecordCache cache;
  Frame frame;
};

// Room for those of threads that are to come. From malloc, since leak checkers look for what records point to there
// only. Each thread makes its own, and so is the first to touch them.
struct alignas(FirstRecords) Room {
  Room* next = nullptr;       // of all: never given back
  Room* next_open = nullptr;  // of those that have some left
  int left = 0;               // they stand behind this
};

platform::Spinlock g_lock;  // of the following
RecordCache* g_free = nullptr;
Room* g_rooms = nullptr;
Room* g_open = nullptr;

template <class Record>
Record* make(const char* what) noexcept {
  auto* record = new (std::nothrow) Record;
  if (record == nullptr) base::lacking("no memory for %s", what);
  return record;
}

// Takes a room, with the lock held; null: there is none.
void* take_room() noexcept {
  Room* room = g_open;
  if (room == nullptr) return nullptr;
  auto* first = reinterpret_cast<std::byte*>(room + 1);
  void* place = first + --room->left * sizeof(FirstRecords);
  if (room->left == 0) g_open = room->next_open;
  return place;
}

}  // namespace

void reserve_records(int threads) noexcept {
  if (threads <= 0) return;
  // Both sizes are multiples of the alignment.
  void* memory = std::aligned_alloc(alignof(Room), sizeof(Room) + static_cast<size_t>(threads) * sizeof(FirstRecords));
  if (memory == nullptr) return;
  auto* room = new (memory) Room;
  room->left = threads;
  g_lock.lock();
  room->next = g_rooms;
  g_rooms = room;
  room->next_open = g_open;
  g_open = room;
  g_lock.unlock();
}

RecordCache* take_record_cache() noexcept {
  g_lock.lock();
  RecordCache* mine = g_free;
  void* place = nullptr;
  if (mine != nullptr) {
    g_free = mine->next_free;
  } else {
    place = take_room();
  }
  g_lock.unlock();
  if (mine == nullptr) {
    auto* records = place != nullptr ? new (place) FirstRecords : make<FirstRecords>("a thread of OpenMP");
    mine = &records->cache;
    mine->frames = &records->frame;
  }
  t_record_cache = mine;
  return mine;
}

void put_record_cache() noexcept {
  RecordCache* mine = t_record_cache;
  if (mine == nullptr) return;
  t_record_cache = nullptr;
  mine->shown = PlacesShown();
  mine->returns.flush();
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

Team* take_team(RegionKind kind) noexcept {
  RecordCache& mine = store();
  Team* team = mine.teams;
  if (team != nullptr) {
    mine.teams = team->next_free;
  } else {
    team = make<Team>("a team of threads");
  }
  team->kind = kind;
  team->flat = false;
  team->defers_alone = false;
  team->persistent_team = nullptr;
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
