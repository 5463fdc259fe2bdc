// SPDX-License-Identifier: Apache-2.0
#include "openmp/root.h"

#include <new>

#include <pthread.h>

#include "base/message.h"
#include "core/scheduler.h"
#include "core/spinlock.h"
#include "openmp/parallel.h"

namespace weft::openmp {

namespace {

core::Spinlock g_lock;
Root* g_free_roots = nullptr;
Team* g_free_teams = nullptr;

pthread_key_t g_exit_key;
pthread_once_t g_exit_once = PTHREAD_ONCE_INIT;

// Records of teams, kept by the context that used them last.
thread_local Team* t_teams = nullptr;

// Runs when a thread that used OpenMP ends. A later destructor of its that opens a region attaches anew.
void leave(void* argument) {
  auto* root = static_cast<Root*>(argument);
  t_member = nullptr;
  release_crew(root);
  core::detach();
  g_lock.lock();
  while (Team* team = t_teams) {
    t_teams = team->next_free;
    team->next_free = g_free_teams;
    g_free_teams = team;
  }
  root->next_free = g_free_roots;
  g_free_roots = root;
  g_lock.unlock();
}

}  // namespace

Root* take_root() noexcept {
  pthread_once(&g_exit_once, [] { pthread_key_create(&g_exit_key, leave); });
  g_lock.lock();
  Root* root = g_free_roots;
  if (root != nullptr) g_free_roots = root->next_free;
  g_lock.unlock();
  if (root == nullptr) root = new (std::nothrow) Root;
  if (root == nullptr) base::fatal("no memory for the first use of OpenMP by a thread");
  pthread_setspecific(g_exit_key, root);
  return root;
}

Team* take_team() noexcept {
  Team* team = t_teams;
  if (team != nullptr) {
    t_teams = team->next_free;
    return team;
  }
  g_lock.lock();
  team = g_free_teams;
  if (team != nullptr) g_free_teams = team->next_free;
  g_lock.unlock();
  if (team == nullptr) team = new (std::nothrow) Team;
  if (team == nullptr) base::fatal("no memory for a team of threads");
  return team;
}

void put_team(Team* team) noexcept {
  team->next_free = t_teams;
  t_teams = team;
}

}  // namespace weft::openmp
