// SPDX-License-Identifier: Apache-2.0
#include "core/sched/wait_queue.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <new>
#include <utility>

#include "core/sched/block.h"
#include "core/sched/ready.h"
#include "core/sched/start.h"

namespace weft::core {

bool WaitQueue::reserve(int lanes) noexcept {
  lanes = static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::min(lanes, slots()))));
  if (lanes <= count_) return true;
  Lane* made = new (std::nothrow) Lane[static_cast<size_t>(lanes)];
  if (made == nullptr) return false;
  delete[] lanes_;
  lanes_ = made;
  count_ = lanes;
  return true;
}

bool WaitQueue::wait(uint32_t ticket) noexcept {
  Context* self = current_context();
  self->queue = this;
  self->ticket = ticket;
  return leave(self, Departure::queue);
}

void WaitQueue::Chain::add(Context* context) noexcept {
  context->next = nullptr;
  Carrier* where = carrier_for(context);
  if (first == nullptr) {
    const Work work{context->root, context->parallel_call.load(std::memory_order_relaxed)};
    *this = {context, context, where, work, 1, context->home == nullptr};
    return;
  }
  last->next = context;
  last = context;
  ++count;
  alike = alike && where == carrier && context->root == work.root && context->home == nullptr;
}

void WaitQueue::take_in(Context* left) noexcept {
  assert(std::has_single_bit(static_cast<unsigned>(count_)));
  Lane& lane = lanes_[left->carrier->index & (count_ - 1)];
  lane.lock.lock();
  // Relaxed: a release counts first and takes the lane's lock then, so with the lock the count is seen.
  const bool released = releases_.load(std::memory_order_relaxed) != left->ticket;
  if (!released) lane.chain.add(left);
  assert(lane.chain.is_valid());
  lane.lock.unlock();
  if (released) make_ready(left);
}

void WaitQueue::release() noexcept {
  releases_.fetch_add(1, std::memory_order_release);
  ReadyTogether ready;
  for (int i = 0; i < count_; ++i) {
    Lane& lane = lanes_[i];
    lane.lock.lock();
    const Chain chain = std::exchange(lane.chain, Chain{});
    lane.lock.unlock();
    assert(chain.is_valid());
    if (chain.first == nullptr) continue;
    if (chain.alike && ready.add(chain.carrier, chain.work, chain.first, chain.last, chain.count)) continue;
    make_all_ready(chain.first);
  }
  ready.call();
}

}  // namespace weft::core
