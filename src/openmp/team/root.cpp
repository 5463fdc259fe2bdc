// SPDX-License-Identifier: Apache-2.0
#include "openmp/team/root.h"

#include <new>

#include <pthread.h>

#include "base/message.h"
#include "core/api/fork.h"
#include "openmp/record/record_cache.h"
#include "openmp/task/lone_tasks.h"
#include "openmp/tool/events.h"
#include "platform/spinlock.h"

namespace weft::openmp {

namespace {

platform::Spinlock g_roots_lock;
Root* g_free_roots = nullptr;

pthread_key_t g_exit_key;
pthread_once_t g_exit_once = PTHREAD_ONCE_INIT;

// Runs when a thread that used OpenMP ends. A later destructor of its that opens a region attaches anew.
void leave(void* argument) {
  auto* root = static_cast<Root*>(argument);
  if (root->team.defers_alone) end_deferring(&root->initial);
  tool::end_root(&root->initial);
  make_current(nullptr);
  release_persistent_team(root);
  root->bound = false;
  core::detach();
  put_record_cache();
  g_roots_lock.lock();
  root->next_free = g_free_roots;
  g_free_roots = root;
  g_roots_lock.unlock();
}

}  // namespace

Root* take_root() noexcept {
  pthread_once(&g_exit_once, [] { pthread_key_create(&g_exit_key, leave); });
  g_roots_lock.lock();
  Root* root = g_free_roots;
  if (root != nullptr) g_free_roots = root->next_free;
  g_roots_lock.unlock();
  if (root == nullptr) root = new (std::nothrow) Root;
  if (root == nullptr) base::lacking("no memory for the first use of OpenMP by a thread");
  pthread_setspecific(g_exit_key, root);
  return root;
}

}  // namespace weft::openmp
