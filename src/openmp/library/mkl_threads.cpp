// SPDX-License-Identifier: Apache-2.0
#include "openmp/library/mkl_threads.h"

#include <algorithm>
#include <cstddef>

#include "base/options.h"
#include "core/api/fork.h"
#include "openmp/record/team.h"
#include "openmp/settings/icv.h"
#include "openmp/settings/startup.h"

namespace weft::openmp {

namespace {

// The thread's last answer below its nthreads-var; 0: none.
struct Answer {
  int threads = 0;
  Call call{};
};
constinit thread_local Answer t_answer;

// The next answer is that of a caller that has all CPUs.
constinit thread_local bool t_all_cpus = false;

}  // namespace

int threads_for_mkl(Member* self, const Call& call) noexcept {
  t_answer.threads = 0;
  const int threads = icvs(self).nthreads;
  // Rounding depends on the number: there it is the program's.
  if (t_all_cpus || threads <= 1 || self->team->active_level > 0 ||
      base::options().reproducible == base::TriState::yes) {
    return threads;
  }
  start_runtime();
  core::attach();
  const int others = core::other_roots();
  if (others <= 0) return threads;
  const int share = std::max(1, core::slots() / (1 + others));
  if (share >= threads) return threads;
  const int possible = std::max(share, 1 + core::idle_carriers());
  if (possible >= threads) return threads;
  t_answer = {possible, call};
  return possible;
}

int setting_behind_mkl(int threads, const Call& call) noexcept {
  if (t_answer.threads == 0 || threads > t_answer.threads) return threads;
  // One function makes both calls, so their frames lie at nearly the same depth: MKL's question through one frame of
  // its own, of 48 bytes. From inside of a call that computes it asks through several, each with six saved registers.
  constexpr ptrdiff_t kNear = 128;
  const ptrdiff_t above = static_cast<const char*>(call.frame) - static_cast<const char*>(t_answer.call.frame);
  if (above < 0 || above > kNear) return threads;
  const AskMkl ask = mkl_question(t_answer.call.caller);
  if (ask == nullptr) return threads;
  constexpr int kAllDomains = -1;
  t_all_cpus = true;
  const int setting = ask(kAllDomains);
  t_all_cpus = false;
  return setting;
}

}  // namespace weft::openmp
