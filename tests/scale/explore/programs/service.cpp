// SPDX-License-Identifier: Apache-2.0
// A donor runs handlers for a context that a carrier wants to go on, while signals come and the lock of the ready list
// is busy (core/sched/service.h).
#include "core/sched/service.h"

#include "platform/cycles.h"
#include "programs/program.h"

namespace weft::explore {

namespace {

using core::Attention;
using core::Context;

class ServiceProgram final : public Program {
 public:
  ServiceProgram() {
    context_.attention.store(Attention::served);
    box_.store(1);
  }
  void run(int thread) override {
    if (thread == 1) {
      serve();
    } else if (thread == 2) {
      want();
    } else {
      hold_the_lock_and_send();
    }
  }
  void check() override {
    if (carrier_.ready.pop() != nullptr) ++gone_on_;
    expect(carrier_.ready.pop() == nullptr && gone_on_ == 1, "the context has not gone on once");
    const uint8_t left = context_.attention.load();
    expect((left & (Attention::served | Attention::wanted)) == 0, "it is still served");
    expect(handled_ + box_.load() == 2, "a signal has not come once");
    expect(box_.load() == 0 || (left & Attention::letters) != 0, "nobody looks into the box");
  }

 private:
  // The donor.
  void serve() {
    core::Listed listed{};
    core::Service service = core::Service::goes_on;
    do {
      context_.attention.fetch_and(static_cast<uint8_t>(~Attention::letters));
      handled_ += box_.exchange(0);
      ++frames_;
      service = core::try_to_end(
          &context_, listed, [this](const Context*) { return core::Listed{&carrier_, nullptr, nullptr, false}; },
          platform::pause);
    } while (service == core::Service::goes_on);
  }

  // A carrier that has the right to let it go on.
  void want() {
    uint8_t seen = context_.attention.load();
    while ((seen & Attention::served) != 0) {
      if (!context_.attention.compare_exchange_weak(seen, static_cast<uint8_t>(seen | Attention::wanted))) continue;
      if (carrier_.ready.pop_first([this](const Context* ready) { return ready == &context_; }) == nullptr) return;
      break;
    }
    ++frames_;
    ++gone_on_;
  }

  void hold_the_lock_and_send() {
    other_.next = nullptr;
    carrier_.ready.push(&other_, &other_, 1);
    box_.fetch_add(1);
    context_.attention.fetch_or(Attention::letters);
    expect(carrier_.ready.pop_first([this](const Context* ready) { return ready == &other_; }) == &other_,
           "another context is gone");
  }

  core::Carrier carrier_{0, 0};
  Context context_;
  Context other_;
  std::atomic<int> box_{0};
  int frames_ = 0;  // of its stack: who has it alone touches them
  int handled_ = 0;
  int gone_on_ = 0;
};

const Registered kService({"service_of_signals", 3, make<ServiceProgram>});

}  // namespace

}  // namespace weft::explore
