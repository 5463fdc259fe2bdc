// SPDX-License-Identifier: Apache-2.0
// Clients: each copy of oneTBB in the process.
#include <atomic>
#include <new>

#include <pthread.h>
#include <signal.h>

#include "tcm/permits.h"
#include "tcm/records.h"

namespace weft::tcm {

namespace {

// A list to which clients are only added, so that it is valid in a forked child whenever the fork happens. Release and
// acquire: a thread that sees a client sees its fields.
std::atomic<Client*> g_clients{nullptr};

}  // namespace

Client* connect(Callback callback) noexcept {
  auto* client = new (std::nothrow) Client(callback);
  if (client == nullptr) return nullptr;
  const Locked lock;
  pthread_sigmask(SIG_SETMASK, nullptr, &g_signals);
  client->next = g_clients.load(std::memory_order_relaxed);
  g_clients.store(client, std::memory_order_release);
  return client;
}

bool is_connected(const Client* client) noexcept {
  const Client* known = g_clients.load(std::memory_order_acquire);
  while (known != nullptr && known != client) known = known->next;
  return known != nullptr && known->connected.load(std::memory_order_relaxed);
}

bool disconnect(Client* client) noexcept {
  return is_connected(client) && client->connected.exchange(false, std::memory_order_relaxed);
}

}  // namespace weft::tcm
