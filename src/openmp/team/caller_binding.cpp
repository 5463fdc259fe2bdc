// SPDX-License-Identifier: Apache-2.0
#include "openmp/team/caller_binding.h"

#include <new>

#include "core/api/fork.h"
#include "openmp/affinity/affinity.h"
#include "openmp/record/team.h"
#include "openmp/settings/startup.h"
#include "platform/futex_lock.h"

namespace weft::openmp {

namespace {

using platform::CpuSet;

// Bindings are told apart by their addresses and may be looked at by carriers at any time: equal sets share one copy,
// which stays.
const CpuSet* lasting_copy(const CpuSet& cpus) noexcept {
  struct Node {
    CpuSet cpus;
    Node* next;
  };
  static platform::FutexLock lock;
  static Node* first = nullptr;
  lock.lock();
  Node* node = first;
  while (node != nullptr && !(node->cpus == cpus)) node = node->next;
  if (node == nullptr) {
    node = new (std::nothrow) Node{cpus, first};
    if (node != nullptr) first = node;
  }
  lock.unlock();
  return node != nullptr ? &node->cpus : nullptr;
}

}  // namespace

bool bind_caller(const CpuSet& cpus) noexcept {
  static_cast<void>(self());
  CpuSet usable = cpus;
  usable.keep_only(affinity().process);
  const CpuSet* lasting = usable.empty() ? nullptr : lasting_copy(usable);
  if (lasting == nullptr) return false;
  start_runtime();
  // Workers that come later must not inherit what the caller has chosen for itself.
  core::protect_workers(&affinity().process);
  core::pin_self(lasting);
  return true;
}

void unbind_caller() noexcept {
  static_cast<void>(self());
  start_runtime();
  core::bind_self(&affinity().process);
}

}  // namespace weft::openmp
