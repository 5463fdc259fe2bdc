// SPDX-License-Identifier: Apache-2.0
// How a donor that has run handlers for a context ends that (core/README.md, "Signals to one thread"). Internal to
// core.
#pragma once

#include "core/sched/ready.h"

namespace weft::core {

enum class Service : uint8_t { goes_on, ended, listed };

// Ends the service, if no signal is left, and if the bit `wanted` of the context is as the caller says.
inline bool end_service(Context* context, bool wanted) noexcept {
  uint8_t seen = context->attention.load();
  while ((seen & Attention::kUnread) == 0 && ((seen & Attention::wanted) != 0) == wanted) {
    const auto left = static_cast<uint8_t>(seen & ~(Attention::served | Attention::wanted));
    if (context->attention.compare_exchange_weak(seen, left)) return true;
  }
  return false;
}

// Ends a donor's service, and makes the context ready if a carrier wants it. A thread that holds the lock of the ready
// list may have been stopped by a handler. So the donor only tries the lock, and ends its service while it holds it:
// until then it serves. `listing_of` says where the context is to stand; `pause` lets other threads run.
template <class ListingOf, class Pause>
Service try_to_end(Context* context, Listed& listed, ListingOf&& listing_of, Pause&& pause) noexcept {
  for (;;) {
    if (end_service(context, false)) return Service::ended;
    const uint8_t seen = context->attention.load();
    if ((seen & Attention::kUnread) != 0) return Service::goes_on;
    if ((seen & Attention::wanted) == 0) continue;
    // The donor alone has the right to let the context go on.
    listed = listing_of(context);
    const auto ends = [context] { return end_service(context, true); };
    if (listed.is_root) {
      if (!ends()) continue;
      listed.carrier->root_ready.store(context);
      return Service::listed;
    }
    context->next = nullptr;
    const ReadyList::Tried tried = listed.carrier->ready.try_push(context, ends);
    if (tried == ReadyList::Tried::pushed) return Service::listed;
    if (tried == ReadyList::Tried::refused) pause();
  }
}

}  // namespace weft::core
