// SPDX-License-Identifier: Apache-2.0
#include "core/context/signals.h"

#include <cerrno>
#include <cstring>
#include <ctime>

#include <unistd.h>
#include <boost/context/detail/fcontext.hpp>

#include "base/keep_errno.h"
#include "core/context/donor.h"
#include "core/context/send_signal.h"
#include "core/sched/pool.h"
#include "core/sched/service.h"
#include "platform/asymmetric_fence.h"
#include "platform/futex.h"
#include "platform/system_call.h"
#include "platform/thread_pointer.h"

// A donor that has been called runs here while a carrier may run its identity. So this file has no instrumentation
// (CMakeLists.txt), and touches no thread-local object before the donor has the context to itself; errno neither: all
// system calls are made past libc.

namespace weft::core {

using platform::system_call;

// A signal on its way. Letters are taken from a table, since a sender may have interrupted the allocator.
struct Letter {
  std::atomic<bool> used{false};  // acquire and release, with the other fields
  Letter* next = nullptr;
  siginfo_t info{};
};

namespace {

constinit Letter g_letters[512];

Letter* take_letter(const siginfo_t& info) noexcept {
  for (Letter& letter : g_letters) {
    if (letter.used.load(std::memory_order_relaxed) || letter.used.exchange(true, std::memory_order_acquire)) continue;
    letter.info = info;
    return &letter;
  }
  return nullptr;
}

void drop(Letter* letter) noexcept { letter->used.store(false, std::memory_order_release); }

void let_others_run() noexcept { system_call(SYS_sched_yield); }

void nap() noexcept {
  constexpr timespec kNap{0, 100'000};
  system_call(SYS_nanosleep, &kNap, nullptr);
}

void put_into_box(Context* context, Letter* letter) noexcept {
  std::atomic<Letter*>& box = context->signals.letters;
  letter->next = box.load(std::memory_order_relaxed);
  // Release: the thread that takes the letter sees its fields.
  while (!box.compare_exchange_weak(letter->next, letter, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

// Takes all letters out, in the order in which they have come. The bit is cleared first: a letter that comes meanwhile
// sets it again.
Letter* empty_box(Context* context) noexcept {
  context->attention.fetch_and(static_cast<uint8_t>(~Attention::letters));
  Letter* last = context->signals.letters.exchange(nullptr, std::memory_order_acquire);
  Letter* first = nullptr;
  while (last != nullptr) {
    Letter* before = last->next;
    last->next = first;
    first = last;
    last = before;
  }
  return first;
}

// Sends the signals in the letter box to the OS thread that runs the context. Returns 0, or the errno of the last
// signal that was refused.
int deliver(Context* context, pid_t thread) noexcept {
  const long process = system_call(SYS_getpid);
  int error = 0;
  for (Letter* letter = empty_box(context); letter != nullptr;) {
    // The kernel lets only tgkill(2) itself use SI_TKILL towards another thread.
    siginfo_t& info = letter->info;
    const long result = info.si_code == SI_TKILL
                            ? system_call(SYS_tgkill, process, thread, info.si_signo)
                            : system_call(SYS_rt_tgsigqueueinfo, process, thread, info.si_signo, &info);
    if (result < 0) error = static_cast<int>(-result);
    Letter* sent = letter;
    letter = letter->next;
    drop(sent);
  }
  return error;
}

void pin(Context* context) noexcept {
  uint8_t seen = context->attention.load();
  for (;;) {
    if (seen >= Attention::kPins) {
      let_others_run();
      seen = context->attention.load();
    } else if (context->attention.compare_exchange_weak(
                   seen, static_cast<uint8_t>((seen + Attention::pin) | Attention::letters))) {
      return;
    }
  }
}

void unpin(Context* context, bool sent) noexcept {
  uint8_t seen = context->attention.load();
  while (!context->attention.compare_exchange_weak(
      seen, static_cast<uint8_t>((seen - Attention::pin) | (sent ? Attention::sent : 0)))) {
  }
}

// Returns the OS thread, a carrier's or a donor's, that runs the context, and goes on doing so until the caller takes
// its pin away. 0: there is none, or it has just come or is about to leave; then it looks into the letter box itself.
pid_t runner_of(const Context* context) noexcept {
  const uint8_t seen = context->attention.load();
  // This is asked first: a carrier that is about to find out that a donor serves the context occupies it for a moment.
  if ((seen & Attention::served) != 0) return context->signals.server.load();
  if (context->occupied.load(std::memory_order_acquire) == 0) return 0;
  auto& departure = const_cast<Departure&>(context->departure);
  // A signal that was sent to the context before may have come when it was about to leave, and the handler may wait for
  // this signal. The context does not leave before it has taken note of signals that were sent.
  const bool stays = (seen & Attention::sent) != 0;
  if (!stays && std::atomic_ref(departure).load(std::memory_order_acquire) != Departure::none) return 0;
  const Carrier* carrier = context->carrier;
  // Relaxed: stored before its first context goes on.
  return carrier != nullptr ? carrier->thread_id.load(std::memory_order_relaxed) : 0;
}

bool is_for_handlers(int signal) noexcept {
  constexpr int kCancel = 32, kSetIds = 33, kHighest = 64;  // the first two are libc's own
  return signal > 0 && signal <= kHighest && signal != kCancel && signal != kSetIds && signal != SIGKILL &&
         signal != SIGSTOP;
}

// Handlers run when the mask is taken back: all signals have been taken out by then, so a handler may leave by
// siglongjmp.
void deliver_here(Context* self) noexcept {
  const SignalsBlocked blocked;
  deliver(self, static_cast<pid_t>(system_call(SYS_gettid)));
}

// The number of the identity; 0: its thread has ended. Relaxed: callers that act on it look once more after a fence.
pid_t number_of(Context* context) noexcept {
  return std::atomic_ref(context->thread_id).load(std::memory_order_relaxed);
}

// After this the caller looks whether the identity has ended meanwhile: then the letter may have come too late for its
// thread (forward_letters()).
int send_to(Context* context, const siginfo_t& info) noexcept {
  // A handler that left by siglongjmp would leave the pin behind.
  const SignalsBlocked blocked;
  Letter* letter = take_letter(info);
  if (letter == nullptr) return EAGAIN;
  put_into_box(context, letter);
  pin(context);
  platform::fence_other_threads();
  const pid_t runner = runner_of(context);
  const int error = runner != 0 ? deliver(context, runner) : 0;
  unpin(context, runner != 0);
  if (runner == 0) summon(context);
  return error;
}

}  // namespace

int send_signal(pthread_t thread, const siginfo_t& info) noexcept {
  if (!is_for_handlers(info.si_signo)) return kNoContext;
  Context* context = context_of(thread);
  if (context == nullptr || context == own_context()) return kNoContext;
  if (context->carrier == nullptr && !context->donated) return kNoContext;
  const pid_t number = number_of(context);
  if (number == 0) return kNoContext;
  const int error = send_to(context, info);
  if (context_of(thread) == context) return error;
  // An absent donor has another number when it ends.
  const pid_t now = number_of(context);
  return deliver(context, now != 0 ? now : number);
}

int send_signal_by_number(pid_t thread, const siginfo_t& info) noexcept {
  const Pool* p = g_pool.load(std::memory_order_acquire);
  if (p == nullptr || !is_for_handlers(info.si_signo)) return kNoContext;
  Context* context = p->contexts.all();
  while (context != nullptr && number_of(context) != thread) context = static_cast<Donor*>(context)->next_of_all;
  const int carriers = p->carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < carriers && context == nullptr; ++i) {
    Carrier* carrier = p->carrier(i);
    if (carrier->is_root() && carrier->thread_id.load(std::memory_order_relaxed) == thread) {
      context = &carrier->own_context;
    }
  }
  if (context == nullptr) return kNoContext;
  if (context != own_context()) {
    const int error = send_to(context, info);
    return number_of(context) == thread ? error : deliver(context, thread);
  }
  // The signal is for the caller itself, whose identity may run on another OS thread than its own.
  Letter* letter = take_letter(info);
  if (letter == nullptr) return EAGAIN;
  put_into_box(context, letter);
  deliver_here(context);
  return 0;
}

// ---- the sides that run a context ----

[[gnu::cold, gnu::noinline]] void settle(Context* self, Departure departure) noexcept {
  for (;;) {
    note_departure(self, Departure::none);
    const uint8_t seen = self->attention.load();
    if ((seen & Attention::kPins) != 0) {
      let_others_run();
    } else if ((seen & Attention::sent) != 0) {
      self->attention.fetch_and(static_cast<uint8_t>(~Attention::sent));
      // Any system call: its end is where signals arrive.
      system_call(SYS_getppid);
    } else if ((seen & Attention::letters) != 0) {
      deliver_here(self);
    } else {
      note_departure(self, departure);
      platform::full_fence();
      if ((self->attention.load() & Attention::kUnread) == 0) return;
    }
  }
}

[[gnu::cold, gnu::noinline]] void read_letters(Context* self) noexcept {
  if ((self->attention.load() & Attention::letters) != 0) deliver_here(self);
}

[[gnu::cold, gnu::noinline]] bool occupy_in_spite(Context* target, Context* self) noexcept {
  for (;;) {
    uint8_t seen = target->attention.load();
    if ((seen & Attention::served) != 0) {
      // The thread that is to end it must do so itself.
      if (target->ends) {
        vacate(target);
        return false;
      }
      // A free context goes on as what it has been taken for, on behalf of the caller's root.
      if (target->carrier == nullptr) target->carrier = self->carrier;
      if (target->claimed != nullptr) {
        target->root = target->claimed->root.load(std::memory_order_relaxed);
      } else if (target->root == nullptr || (target->departure == Departure::idle && target->start == nullptr)) {
        target->root = self->root;
      }
      target->occupied.store(0, std::memory_order_release);
      if (target->attention.compare_exchange_strong(seen, static_cast<uint8_t>(seen | Attention::wanted))) return false;
      target->occupied.store(1, std::memory_order_relaxed);
      platform::full_fence();
    } else if ((seen & (Attention::trying | Attention::wanted)) != Attention::trying ||
               target->attention.compare_exchange_strong(seen, static_cast<uint8_t>(seen | Attention::wanted))) {
      return true;
    }
  }
}

bool occupy_now(Context* context) noexcept {
  for (;;) {
    context->occupied.store(1, std::memory_order_relaxed);
    platform::full_fence();
    uint8_t seen = context->attention.load();
    if ((seen & Attention::served) != 0) {
      vacate(context);
      return false;
    }
    if ((seen & (Attention::trying | Attention::wanted)) != Attention::trying ||
        context->attention.compare_exchange_strong(seen, static_cast<uint8_t>(seen | Attention::wanted))) {
      return true;
    }
  }
}

void await_target(Context* self, Context* target, Departure departure) noexcept {
  do {
    go_on(self);
    nap();
    begin_to_leave(self, departure);
  } while (!occupy_now(target));
}

namespace {

enum class Called : uint8_t { one, none, refused };

// There are as many donors as contexts that no carrier runs, and each is busy with one of these at most. Those that
// have a thread come first, and of the others the context's own.
Called call_a_donor(Context* context) noexcept {
  const Pool* p = g_pool.load(std::memory_order_acquire);
  Donor* const own = context->donated ? static_cast<Donor*>(context) : nullptr;
  Donor* const all = p != nullptr ? p->contexts.all() : nullptr;
  Called called = Called::none;
  for (const bool absent : {false, true}) {
    const auto takes = [&](Donor* donor) {
      // A hint: take_call() looks again.
      if (((donor->state.load(std::memory_order_relaxed) & Donor::absent) != 0) != absent) return false;
      if (donor->take_call(context)) return true;
      if ((donor->state.load() & Donor::absent) != 0) called = Called::refused;
      return false;
    };
    if (own != nullptr && takes(own)) return Called::one;
    for (Donor* donor = all; donor != nullptr; donor = donor->next_of_all) {
      if (takes(donor)) return Called::one;
      if (called == Called::refused) return called;
    }
  }
  return called;
}

}  // namespace

[[gnu::cold, gnu::noinline]] void summon(Context* context) noexcept {
  constexpr int kMostRefusals = 10'000;  // a second
  int refusals = 0;
  const SignalsBlocked blocked;
  for (;;) {
    const uint8_t seen = context->attention.load();
    if ((seen & Attention::letters) == 0 || (seen & (Attention::trying | Attention::served)) != 0) return;
    if (context->occupied.load(std::memory_order_acquire) != 0) return;
    const Called called = call_a_donor(context);
    if (called == Called::one) return;
    // Where the system goes on refusing absent donors a thread, the handlers run when the context goes on.
    if (called == Called::refused && ++refusals == kMostRefusals) return;
    called == Called::refused ? nap() : let_others_run();
  }
}

void begin_signals(Context* context) noexcept {
  // Letters that have come for an earlier life.
  for (Letter* letter = empty_box(context); letter != nullptr;) {
    Letter* late = letter;
    letter = letter->next;
    drop(late);
  }
  context->attention.fetch_and(static_cast<uint8_t>(~Attention::sent));
  note_departure(context, Departure::none);
  context->occupied.store(1, std::memory_order_release);
}

void end_signals(Context* context) noexcept {
  while (!occupy_now(context)) nap();
  while ((context->attention.load() & (Attention::trying | Attention::kPins)) != 0) nap();
}

void forward_letters(Context* ended) noexcept {
  platform::full_fence();
  if (ended->signals.letters.load() == nullptr) return;
  const SignalsBlocked blocked;
  deliver(ended, static_cast<pid_t>(system_call(SYS_gettid)));
}

// ---- donors ----

namespace {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

struct Served {
  Context* context;
  pid_t thread;
  SignalMask mask;  // the one that members begin with
};

// Runs handlers until no signal is left, on the stack of the context and under its identity.
void run_handlers(transfer_t from) noexcept {
  const auto* service = static_cast<const Served*>(from.data);
  Context* context = service->context;
  {
    const base::KeepErrno keep;
    context->signals.server.store(service->thread);
    for (;;) {
      context->attention.fetch_and(static_cast<uint8_t>(~Attention::sent));
      deliver(context, service->thread);
      set_signal_mask(set_signal_mask(service->mask));
      const uint8_t seen = context->attention.load();
      if ((seen & Attention::kUnread) == 0) break;
      if ((seen & Attention::kPins) != 0) let_others_run();
    }
    context->signals.server.store(0);
  }
  jump_fcontext(from.fctx, nullptr);
  __builtin_unreachable();
}

// Takes the context for the donor. Returns false if a carrier has it, which then reads its letters itself.
bool take(Context* context) noexcept {
  for (;;) {
    uint8_t seen = context->attention.load();
    do {
      if ((seen & (Attention::trying | Attention::served)) != 0) return false;
    } while (!context->attention.compare_exchange_weak(seen, static_cast<uint8_t>(seen | Attention::trying)));
    platform::fence_other_threads();
    if (context->occupied.load(std::memory_order_acquire) == 0) {
      seen = context->attention.load();
      while ((seen & Attention::wanted) == 0) {
        const auto taken = static_cast<uint8_t>((seen & ~Attention::trying) | Attention::served);
        if (context->attention.compare_exchange_weak(seen, taken)) return true;
      }
    }
    seen = context->attention.fetch_and(static_cast<uint8_t>(~(Attention::trying | Attention::wanted)));
    // If the context has been left meanwhile and has letters, it is tried again: another donor that was called for
    // those has found this one here, and gone.
    if ((seen & Attention::letters) == 0 || context->occupied.load() != 0) return false;
  }
}

void run_handlers_of(Context* context, pid_t thread, uintptr_t identity) noexcept {
  if (!take(context)) return;
  const Pool* p = g_pool.load(std::memory_order_acquire);
  Served served{context, thread, 0};
  if (p != nullptr) std::memcpy(&served.mask, &p->signal_mask, sizeof served.mask);
  platform::set_thread_pointer(context->thread_pointer);
  Service service = Service::goes_on;
  Listed listed{};
  do {
    // The red zone right below the stack pointer may be in use too.
    constexpr uintptr_t kRedZone = 256;
    const uintptr_t top = (reinterpret_cast<uintptr_t>(context->stack_pointer) - kRedZone) & ~uintptr_t{63};
    jump_fcontext(make_fcontext(reinterpret_cast<void*>(top), 0, run_handlers), &served);
    service = try_to_end(context, listed, listing_of, let_others_run);
  } while (service == Service::goes_on);
  platform::set_thread_pointer(identity);
  if (service == Service::listed) call_for(listed);
}

}  // namespace

bool runs_handlers_of_another() noexcept {
  // Relaxed: it was set by this OS thread, or is not set.
  return (current_context()->attention.load(std::memory_order_relaxed) & Attention::served) != 0;
}

void open_to_signals() noexcept {
  const Pool* p = g_pool.load(std::memory_order_acquire);
  if (p != nullptr) pthread_sigmask(SIG_SETMASK, &p->signal_mask, nullptr);
}

bool Donor::take_call(Context* context) noexcept {
  uint32_t expected = parked;
  if (!state.compare_exchange_strong(expected, taken, std::memory_order_acquire)) {
    if (expected != (parked | absent)) return false;
    if (!state.compare_exchange_strong(expected, taken | absent, std::memory_order_acquire)) return false;
  }
  call = context;
  state.fetch_xor(taken | called, std::memory_order_release);
  platform::futex_wake(state, 1);
  if (bring_back()) return true;
  // The call is taken back, unless somebody else has brought the donor back meanwhile.
  uint32_t seen = called | absent;
  while (!state.compare_exchange_weak(seen, seen ^ (called | parked), std::memory_order_acq_rel)) {
    if ((seen & absent) == 0) return true;
  }
  return false;
}

void Donor::serve() noexcept {
  bool has_served = false;
  for (;;) {
    const uint32_t seen = state.load(std::memory_order_acquire);
    if ((seen & called) != 0) {
      run_handlers_of(call, own_thread(), thread_pointer);
      state.fetch_xor(called | parked, std::memory_order_acq_rel);
      has_served = true;
      continue;
    }
    const bool ends = (seen & (ending | taken)) == ending;
    if (ends && !(leaves && has_served)) break;
    if (leaves && (seen & parked) != 0 && leave_thread()) {
      has_served = false;
      continue;
    }
    platform::futex_wait(state, seen);
    // A signal has come (core/context/set_ids.h), and the kernel may have written again.
    if (rseq == Rseq::refused) platform::disclaim_rseq(thread_pointer);
  }
  end_signals(this);
}

}  // namespace weft::core
