// SPDX-License-Identifier: Apache-2.0
#include "openmp/team/record_cache.h"

#include <new>

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

}  // namespace

RecordCache* take_record_cache() noexcept {
  g_lock.lock();
  RecordCache* mine = g_free;
  if (mine != nullptr) g_free = mine->next_free;
  g_lock.unlock();
  if (mine == nullptr) mine = make<RecordCache>("a thread of OpenMP");
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
