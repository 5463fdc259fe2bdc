// SPDX-License-Identifier: Apache-2.0
#include "openmp/store.h"

#include <new>

#include "base/message.h"
#include "core/spinlock.h"

namespace weft::openmp {

constinit thread_local Store* t_store = nullptr;

namespace {

core::Spinlock g_lock;
Store* g_free = nullptr;

template <class Record>
Record* make(const char* what) noexcept {
  auto* record = new (std::nothrow) Record;
  if (record == nullptr) base::lacking("no memory for %s", what);
  return record;
}

}  // namespace

Store* take_store() noexcept {
  g_lock.lock();
  Store* mine = g_free;
  if (mine != nullptr) g_free = mine->next_free;
  g_lock.unlock();
  if (mine == nullptr) mine = make<Store>("a thread of OpenMP");
  t_store = mine;
  return mine;
}

void put_store() noexcept {
  Store* mine = t_store;
  if (mine == nullptr) return;
  t_store = nullptr;
  mine->shown = SeatsShown();
  g_lock.lock();
  mine->next_free = g_free;
  g_free = mine;
  g_lock.unlock();
}

Member* take_frame() noexcept {
  Store& mine = store();
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
  Store& mine = store();
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
  Store& mine = store();
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
