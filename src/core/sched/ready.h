// SPDX-License-Identifier: Apache-2.0
// Contexts that can go on: in which carrier's list each stands, and which carrier is called for it. Internal to core.
#pragma once

#include <array>

#include "core/sched/carrier.h"

namespace weft::core {

// The carrier in whose list the context is to stand.
Carrier* carrier_for(const Context* context) noexcept;

// Makes ready `context`, which no carrier runs and no list holds.
void make_ready(Context* context) noexcept;

// The same in two steps, for a thread that is not of the pool and has no identity of its own. listing_of() says where
// the context is to stand; the caller runs under the context's identity, and it alone has the right to let the context
// go on. Then the caller puts the context there, into the ready list or as the root of its home: it may go on any
// moment. call_for() calls a carrier; it runs under any identity and touches no thread-local object. No worker is made
// for it.
struct Listed {
  Carrier* carrier;
  const Carrier* root;
  const ParallelCall* parallel_call;
  bool is_root;
};
Listed listing_of(const Context* context) noexcept;
void call_for(const Listed& listed) noexcept;

// make_ready() for a chain of contexts.
void make_all_ready(Context* chain) noexcept;

// The same for several chains that end with null. The contexts of a chain all belong into the list of one carrier and
// do the same work, so they need not be looked at. Carriers are called when all chains are there: a carrier that finds
// a context in its own list does not come for another's.
class ReadyTogether {
 public:
  // Returns false, and has done nothing, where the carrier may not serve these contexts any more.
  bool add(Carrier* carrier, Work work, Context* first, Context* last, int count) noexcept;
  // To be called after the last chain.
  void call() noexcept;

 private:
  static constexpr int kMost = 32;
  struct List {
    Carrier* carrier;
    const Carrier* root;
    const ParallelCall* parallel_call;
    int count;
  };
  std::array<List, kMost> lists_;  // not initialized
  int size_ = 0;
};

}  // namespace weft::core
