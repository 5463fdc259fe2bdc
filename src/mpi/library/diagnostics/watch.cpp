// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/diagnostics/watch.h"

#include <algorithm>
#include <cstdio>
#include <mutex>

#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include "base/message.h"
#include "base/quiet_options.h"
#include "mpi/library/diagnostics/table.h"
#include "platform/asymmetric_fence.h"
#include "platform/cycles.h"
#include "platform/futex.h"
#include "platform/futex_lock.h"
#include "platform/service_thread.h"

namespace weft::mpi {

namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int kLooks = 20;  // during a silence, so that a task that has run is seen
constexpr int64_t kShortestRestNs = 20'000'000;
constexpr size_t kStackSize = 256 * 1024;

// 1: the user asks. Release and acquire are not needed: nothing comes with it.
std::atomic<uint32_t> g_asked{0};

// Held during every look; whether MPI may be called, and what the process is.
platform::FutexLock g_lock;
bool g_watching = false;
const Runtime* g_watched = nullptr;
char g_process[256] = "";

// Finds out for how long the same calls have waited while no task ran.
class Silence {
 public:
  explicit Silence(int64_t limit) noexcept : limit_(limit) {}

  // To be called at each look. Returns true once, when the limit has been passed.
  bool is_too_long(const Runtime& runtime) noexcept {
    if (limit_ == 0 || runtime.busy_threads == nullptr) return false;
    struct Waits {
      int calls = 0;
      int64_t youngest = 0;
    } waits;
    const std::optional<int> in_place = visit_waits(
        [](const Call&, int64_t began, void* argument) {
          auto& seen = *static_cast<Waits*>(argument);
          ++seen.calls;
          seen.youngest = std::max(seen.youngest, began);
        },
        &waits);
    const int64_t now = platform::now_ns();
    // A call that waits in place is in a task that runs.
    const bool quiet = waits.calls > 0 && waits.calls == calls_ && waits.youngest == youngest_ &&
                       runtime.busy_threads() <= in_place.value_or(0);
    calls_ = waits.calls;
    youngest_ = waits.youngest;
    if (!quiet) {
      since_ = now;
      said_ = false;
    }
    if (said_ || now - since_ < limit_) return false;
    return said_ = true;
  }

 private:
  const int64_t limit_;
  int64_t since_ = platform::now_ns();
  int calls_ = 0;
  int64_t youngest_ = 0;
  bool said_ = false;
};

void write_table(const char* why) noexcept {
  static Table table;
  table = Table();
  table.collect();
  char title[512];
  const int calls = table.calls();
  if (!table.is_whole()) {
    base::warn("mpi: %s: calls outside of parallel regions cannot be seen: the system refuses membarrier", g_process);
  }
  if (calls == 0) {
    std::snprintf(title, sizeof title, "%s: %sno call waits", g_process, why);
  } else {
    std::snprintf(title, sizeof title, "%s: %s%d call%s:", g_process, why, calls, calls == 1 ? " waits" : "s wait");
  }
  table.write(title);
}

void look(Silence& silence, bool asked, int seconds) noexcept {
  const std::lock_guard lock(g_lock);
  if (!g_watching) {
    if (asked) base::warn("mpi: %s: MPI has been finalized", g_process);
    return;
  }
  const bool too_long = silence.is_too_long(*g_watched);
  if (!asked && !too_long) return;
  char why[128] = "";
  if (too_long) {
    std::snprintf(why, sizeof why, "no message has come for %d s, and no task runs (WEFT_MPI_SILENCE); ", seconds);
  }
  write_table(why);
}

// ---- the signal ----

// The process for which the handler was set: in a child of a fork no thread watches. Relaxed: it is written before the
// handler is set.
std::atomic<pid_t> g_own_process{0};
// MPICH's handler, where it was there first; written before the handler that reads it is set.
void (*g_of_mpi)(int) = nullptr;
bool g_blocked_at_start = false;
bool g_free_before_mpi = false;

// Does what the signal does without a handler. It arrives again when the handler that calls this returns.
void end_process(int signal) noexcept {
  struct sigaction by_default{};
  by_default.sa_handler = SIG_DFL;
  sigaction(signal, &by_default, nullptr);
  raise(signal);
}

// On any stack of the program's, and at any moment: it leaves even errno alone.
void ask(int signal) noexcept {
  if (g_own_process.load(std::memory_order_relaxed) != getpid()) return end_process(signal);
  g_asked.store(1);
  platform::futex_wake(g_asked, 1);
}

void ask_behind_mpi(int signal) noexcept {
  g_of_mpi(signal);
  ask(signal);
}

// Whether the handler is in the MPI itself, rather than in the program.
bool is_of_mpi(void (*handler)(int)) noexcept {
  Dl_info code;
  Dl_info mpi;
  return dladdr(reinterpret_cast<void*>(handler), &code) != 0 &&
         dladdr(reinterpret_cast<void*>(&PMPI_Init), &mpi) != 0 && code.dli_fbase == mpi.dli_fbase;
}

// Unless it is the program's.
void take_signal() noexcept {
  if (!base::quiet_options().mpi_signal || !g_free_before_mpi) return;
  struct sigaction now{};
  if (sigaction(SIGUSR1, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) != 0) return;
  const bool is_free = now.sa_handler == SIG_DFL;
  if (!is_free && (now.sa_handler == SIG_IGN || !is_of_mpi(now.sa_handler))) return;
  const bool have_it = g_own_process.exchange(getpid(), std::memory_order_relaxed) == getpid();
  // MPI's handler calls the one that stood before it.
  if (have_it && !is_free) return;
  if (!is_free) g_of_mpi = now.sa_handler;
  struct sigaction ours{};
  ours.sa_handler = is_free ? ask : ask_behind_mpi;
  ours.sa_flags = SA_RESTART;
  sigemptyset(&ours.sa_mask);
  sigaction(SIGUSR1, &ours, nullptr);
}

bool is_blocked() noexcept {
  sigset_t mask;
  return pthread_sigmask(SIG_BLOCK, nullptr, &mask) == 0 && sigismember(&mask, SIGUSR1) == 1;
}

// Users are told to ask by the signal; one rank says for all that it will be in vain.
void say_if_blocked() noexcept {
  if (!base::quiet_options().mpi_signal || g_blocked_at_start || !is_blocked()) return;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return;
  base::warn(
      "mpi: the program blocks SIGUSR1, so that nobody can ask by it who waits for what (WEFT_MPI_SIGNAL=false "
      "leaves the signal alone)");
}

// Called by the thread that watches: it takes the signal where all other threads block it.
void receive_signal() noexcept {
  if (!g_blocked_at_start) return;
  sigset_t signal;
  sigemptyset(&signal);
  sigaddset(&signal, SIGUSR1);
  pthread_sigmask(SIG_UNBLOCK, &signal, nullptr);
}

void* watch(void*) noexcept {
  if (base::quiet_options().mpi_signal) receive_signal();
  const int seconds = base::quiet_options().mpi_silence;
  const int64_t limit = seconds * kSecond;
  const int64_t rest = std::clamp(limit / kLooks, kShortestRestNs, kSecond);
  Silence silence(limit);
  for (;;) {
    if (limit > 0) {
      platform::futex_wait_for(g_asked, 0, rest);
    } else {
      platform::futex_wait(g_asked, 0);
    }
    look(silence, g_asked.exchange(0) != 0, seconds);
  }
  return nullptr;
}

void name_process() noexcept {
  int rank = 0;
  int size = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  char host[128] = "";
  gethostname(host, sizeof host - 1);
  std::snprintf(g_process, sizeof g_process, "rank %d of %d on %s, process %d", rank, size, host, getpid());
}

}  // namespace

void expect_blocked_signal(bool blocked) noexcept { g_blocked_at_start = blocked; }

void take_signal_before_mpi(bool now) noexcept {
  struct sigaction found{};
  g_free_before_mpi =
      sigaction(SIGUSR1, nullptr, &found) == 0 && (found.sa_flags & SA_SIGINFO) == 0 && found.sa_handler == SIG_DFL;
  if (now) take_signal();
}

void watch_waits(const Runtime& runtime) noexcept {
  const base::Options& options = base::quiet_options();
  const std::lock_guard lock(g_lock);
  g_watched = &runtime;
  name_process();
  platform::lighten_fences();
  if (options.mpi_silence == 0 && !options.mpi_signal) return;
  g_watching = platform::start_service_thread(watch, nullptr, kStackSize);
  if (!g_watching) return;
  // Python may load the runtime after MPI has started.
  take_signal();
  say_if_blocked();
}

void end_watch(bool say) noexcept {
  const std::lock_guard lock(g_lock);
  if (say) write_table("");
  g_watching = false;
}

}  // namespace weft::mpi
