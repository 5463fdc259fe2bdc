// SPDX-License-Identifier: Apache-2.0
#include "openmp/library/mkl_threads.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/options.h"
#include "core/api/fork.h"
#include "openmp/record/team.h"
#include "openmp/settings/icv.h"
#include "openmp/settings/startup.h"
#include "platform/cycles.h"

namespace weft::openmp {

namespace {

// The thread's last answer below its nthreads-var; threads 0: none.
struct Answer {
  int threads = 0;
  int64_t at_ns = 0;
  Call call{};
};
constinit thread_local Answer t_answer;

// While the runtime asks MKL itself: the answer to MKL. 0: as to everybody.
constinit thread_local int t_fixed_answer = 0;

// What MKL says behind such an answer.
int said_by_mkl(AskMkl ask, int answer) noexcept {
  constexpr int kAllDomains = -1;
  t_fixed_answer = answer;
  const int said = ask(kAllDomains);
  t_fixed_answer = 0;
  return said;
}

}  // namespace

int threads_for_mkl(Member* self, const Call& call) noexcept {
  if (t_fixed_answer != 0) return t_fixed_answer;
  t_answer.threads = 0;
  const int threads = icvs(self).nthreads;
  // Rounding depends on the number: there it is the program's.
  if (threads <= 1 || self->team->active_level > 0 || base::options().reproducible == base::TriState::yes) {
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
  t_answer = {possible, platform::now_ns(), call};
  return possible;
}

int setting_behind_mkl(int threads, const Call& call) noexcept {
  if (t_answer.threads == 0 || threads > t_answer.threads) return threads;
  const Answer answer = std::exchange(t_answer, {});
  // One function makes both calls, one behind the other, so their frames lie at nearly the same depth: MKL's question
  // through one frame of its own, of 48 bytes. From inside of a call that computes it asks through several.
  constexpr ptrdiff_t kNear = 96;
  constexpr int64_t kSoonNs = 1'000'000'000;
  const ptrdiff_t above = static_cast<const char*>(call.frame) - static_cast<const char*>(answer.call.frame);
  if (above < 0 || above > kNear || platform::now_ns() - answer.at_ns > kSoonNs) return threads;
  const AskMkl ask = mkl_question(answer.call.caller);
  // And what is set is what MKL has made of the answer.
  if (ask == nullptr || said_by_mkl(ask, answer.threads) != threads) return threads;
  return said_by_mkl(ask, icvs(self()).nthreads);
}

}  // namespace weft::openmp
