// SPDX-License-Identifier: Apache-2.0
// Lists that lie behind a lock, with hints outside of it: what is in one is got once, by who sees what was written.
#include <array>

#include "core/sched/free_contexts.h"
#include "core/sched/ready_list.h"
#include "openmp/record/task_inbox.h"
#include "programs/program.h"

namespace weft::explore {

namespace {

constexpr int kThings = 3;

struct ReadyContexts {
  using Thing = core::Context;
  void put(Thing* thing) {
    thing->next = nullptr;
    list.push(thing, thing, 1);
  }
  Thing* take() { return list.pop(); }
  core::ReadyList list;
};

struct Shelf {
  using Thing = core::Context;
  void put(Thing* thing) {
    contexts.lock.lock();
    contexts.put_on_shelf(thing);
    contexts.lock.unlock();
  }
  Thing* take() {
    if (contexts.shelved.load(std::memory_order_relaxed) == 0) return nullptr;
    contexts.lock.lock();
    Thing* thing = contexts.take_from_shelf([](const Thing*) { return true; });
    contexts.lock.unlock();
    return thing;
  }
  core::FreeContexts contexts;
};

struct Inbox {
  using Thing = openmp::Task;
  void put(Thing* thing) { inbox.put(thing); }
  Thing* take() {
    return inbox.size() > 0 ? inbox.take([](const Thing*) { return true; }) : nullptr;
  }
  openmp::TaskInbox inbox;
};

template <class List>
class ListProgram final : public Program {
 public:
  void run(int thread) override {
    if (thread == 1) {
      for (auto& thing : things_) {
        input_[static_cast<size_t>(&thing - things_.data())] = 1;
        list_.put(&thing);
      }
    } else {
      for (int i = 0; i < kThings; ++i) take(list_.take());
    }
  }
  void check() override {
    while (auto* left = list_.take()) take(left);
    for (const int got : got_) expect(got == 1, "a thing has not been got once");
  }

 private:
  using Thing = typename List::Thing;
  void take(const Thing* thing) {
    if (thing == nullptr) return;
    const auto at = static_cast<size_t>(thing - things_.data());
    expect(input_[at] == 1, "a thing is not complete");
    ++got_[at];
  }

  List list_;
  std::array<Thing, kThings> things_;
  std::array<int, kThings> input_{};
  std::array<int, kThings> got_{};
};

const Registered kReadyList({"ready_list", 3, make<ListProgram<ReadyContexts>>});
const Registered kShelf({"free_contexts", 3, make<ListProgram<Shelf>>});
const Registered kInbox({"task_inbox", 3, make<ListProgram<Inbox>>});

}  // namespace

}  // namespace weft::explore
