// SPDX-License-Identifier: Apache-2.0
#include "core/sched/ready.h"

#include <utility>

#include "core/sched/pool.h"
#include "core/sched/waking.h"
#include "core/sched/work.h"
#include "platform/fence.h"

namespace weft::core {

Carrier* carrier_for(const Context* context) noexcept {
  const Pool& p = pool();
  const Work work = work_of(context);
  Carrier* carrier = context->preferred;
  if (carrier == nullptr || !may_serve(p, carrier, work)) carrier = context->carrier;
  // In the list of a carrier that may not run it, the context would wait until another one has nothing else to do.
  if (!may_serve(p, carrier, work)) {
    Carrier* here = current_context()->carrier;
    if (here != nullptr && may_serve(p, here, work)) carrier = here;
  }
  return carrier;
}

namespace {

// Calls `carrier` for work that has been put in its list, before a fence. Returns false where it does not come for
// that: it is not idle, may not run the work, or has been called already, for other work.
bool call_its_own(Pool& p, Carrier* carrier, Work work) noexcept {
  if (!p.is_idle(carrier) || !may_go_on_with(p, carrier, work) || !p.idle.remove(carrier->index)) return false;
  wake(carrier);
  return true;
}

// Puts contexts for the same work in a list, and calls carriers for them. They may go on as soon as they are in the
// list.
void push_ready(Pool& p, Carrier* carrier, Work work, Context* first, Context* last, int count) noexcept {
  carrier->ready.push(first, last, count);
  platform::full_fence();
  notify_some(p, work, count - (call_its_own(p, carrier, work) ? 1 : 0));
}

void make_root_ready(Context* root) noexcept {
  Carrier* home = root->home;
  home->root_ready.store(root);
  call(home);
}

}  // namespace

void make_ready(Context* context) noexcept {
  if (context->home != nullptr) {
    make_root_ready(context);
    return;
  }
  Pool& p = pool();
  if (context->bodiless) {
    Carrier* worker = context->preferred;
    worker->bodiless_root.store(context->root, std::memory_order_relaxed);
    worker->bodiless_ready.store(context);
    call(worker);
    if (!may_serve(p, worker, work_of(context))) notify(work_of(context));
    return;
  }
  context->next = nullptr;
  push_ready(p, carrier_for(context), work_of(context), context, context, 1);
}

Listed listing_of(const Context* context) noexcept {
  const Work work = work_of(context);
  if (context->home != nullptr) return {context->home, work.root, work.parallel_call, true};
  return {carrier_for(context), work.root, work.parallel_call, false};
}

void call_for(const Listed& listed) noexcept {
  if (listed.is_root) {
    call(listed.carrier);
    return;
  }
  platform::full_fence();
  Pool& p = pool();
  const Work work{listed.root, listed.parallel_call};
  if (!call_its_own(p, listed.carrier, work)) call_one_there(p, work, listed.carrier);
}

void make_all_ready(Context* chain) noexcept {
  Pool& p = pool();
  while (chain != nullptr) {
    Context* first = chain;
    chain = chain->next;
    if (first->home != nullptr) {
      make_root_ready(first);
      continue;
    }
    Carrier* carrier = carrier_for(first);
    const Work work = work_of(first);
    Context* last = first;
    int count = 1;
    while (chain != nullptr && chain->home == nullptr && chain->root == work.root &&
           chain->parallel_call.load(std::memory_order_relaxed) == work.parallel_call &&
           carrier_for(chain) == carrier) {
      last = chain;
      chain = chain->next;
      ++count;
    }
    last->next = nullptr;
    push_ready(p, carrier, work, first, last, count);
  }
}

bool ReadyTogether::add(Carrier* carrier, Work work, Context* first, Context* last, int count) noexcept {
  if (!may_serve(pool(), carrier, work)) return false;
  if (size_ == kMost) call();
  carrier->ready.push(first, last, count);
  lists_[static_cast<size_t>(size_++)] = {carrier, work.root, work.parallel_call, count};
  return true;
}

void ReadyTogether::call() noexcept {
  if (size_ == 0) return;
  platform::full_fence();
  Pool& p = pool();
  // Other carriers are looked for once per kind of work; mostly there is only one kind.
  int others = 0;
  for (int i = 0; i < size_; ++i) {
    const List& list = lists_[static_cast<size_t>(i)];
    const Work work{list.root, list.parallel_call};
    others += list.count - (call_its_own(p, list.carrier, work) ? 1 : 0);
    const bool last = i + 1 == size_ || lists_[static_cast<size_t>(i) + 1].root != work.root ||
                      lists_[static_cast<size_t>(i) + 1].parallel_call != work.parallel_call;
    if (last) notify_some(p, work, std::exchange(others, 0));
  }
  size_ = 0;
}

}  // namespace weft::core
