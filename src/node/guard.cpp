// SPDX-License-Identifier: Apache-2.0
#include "node/guard.h"

#include <atomic>
#include <cstdint>

#include <signal.h>
#include <sys/mman.h>

#include "platform/raise_again.h"

namespace weft::node {

namespace {

// Release and acquire: a thread that sees the address sees the size.
std::atomic<uintptr_t> g_begin{0};
std::atomic<size_t> g_size{0};
// Relaxed: what has been mapped is there for the thread that faulted; others learn of it a moment later.
std::atomic<bool> g_lost{false};
struct sigaction g_before;  // written before the handler is installed

void on_fault(int signal, siginfo_t* fault, void* context) {
  const auto address = reinterpret_cast<uintptr_t>(fault->si_addr);
  const uintptr_t begin = g_begin.load(std::memory_order_acquire);
  const size_t size = g_size.load(std::memory_order_relaxed);
  const bool sent = platform::was_sent(fault);
  if (!sent && begin != 0 && address >= begin && address - begin < size) {
    void* const wanted = reinterpret_cast<void*>(begin);
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    g_lost.store(true, std::memory_order_relaxed);
    if (mmap(wanted, size, PROT_READ | PROT_WRITE, kFlags, -1, 0) == wanted) return;
  }
  if ((g_before.sa_flags & SA_SIGINFO) != 0) {
    g_before.sa_sigaction(signal, fault, context);
  } else if (g_before.sa_handler == SIG_IGN && sent) {
    return;
  } else if (g_before.sa_handler == SIG_DFL || g_before.sa_handler == SIG_IGN) {
    // It ends the program the usual way: a fault cannot be ignored.
    platform::raise_again(signal, fault, g_before);
  } else {
    g_before.sa_handler(signal);
  }
}

}  // namespace

void guard(void* mapping, size_t size) noexcept {
  g_lost.store(false, std::memory_order_relaxed);
  g_size.store(size, std::memory_order_relaxed);
  g_begin.store(reinterpret_cast<uintptr_t>(mapping), std::memory_order_release);
  // Once, also for the children of forks: a handler that came later may call ours, which must not call it in turn.
  static std::atomic<bool> installed{false};
  if (installed.exchange(true) || sigaction(SIGBUS, nullptr, &g_before) != 0) return;
  struct sigaction ours{};
  ours.sa_sigaction = on_fault;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGBUS, &ours, nullptr);
}

void unguard(const void* mapping) noexcept {
  auto begin = reinterpret_cast<uintptr_t>(mapping);
  g_begin.compare_exchange_strong(begin, 0);
}

bool mapping_lost() noexcept { return g_lost.load(std::memory_order_relaxed); }

}  // namespace weft::node
