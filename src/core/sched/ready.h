// SPDX-License-Identifier: Apache-2.0
// Contexts that can go on: in whose list each stands, and which carrier is called for it. Internal to core.
#pragma once

#include <array>

#include "core/sched/carrier.h"

namespace weft::core {

// In whose list a context is to stand.
Carrier* carrier_for(const Context* context) noexcept;

// `context`, which nobody runs or holds, can go on.
void make_ready(Context* context) noexcept;

// The same in steps for a thread that is none of the pool's and has no identity of its own: where it is to stand, asked
// under the identity of the context, which nobody else has the right to let go on; then the caller puts it there, into
// the ready list or as the root of its home, and it goes on any moment; the last under any identity, with no
// thread-local object touched. No worker is made for it.
struct Listed {
  Carrier* carrier;
  const Carrier* root;
  const ParallelCall* parallel_call;
  bool is_root;
};
Listed listing_of(const Context* context) noexcept;
void call_for(const Listed& listed) noexcept;

// The same for a chain of them.
void make_all_ready(Context* chain) noexcept;

// The same for chains that end with null, each of contexts that all belong into the list of one carrier and do the same
// work, without a look at them. Carriers are called when all are there: one that finds its own does not come for
// another's.
class ReadyTogether {
 public:
  // False, and nothing is done, when that carrier may not serve them any more.
  bool add(Carrier* carrier, Work work, Context* first, Context* last, int count) noexcept;
  // After the last one.
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
