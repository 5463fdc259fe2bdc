// SPDX-License-Identifier: Apache-2.0
// KMP: routines under the names by which C programs that bring no omp.h, and Fortran's interface modules, call them;
// and settings given as text.
#include <array>
#include <cstddef>
#include <cstring>

#include "base/options.h"
#include "openmp/abi/abi.h"
#include "openmp/record/team.h"
#include "openmp/settings/icv.h"

using namespace weft;
using namespace weft::openmp;

// ---- the same by another name ----

#define WEFT_ALIAS(result, name, parameters, original, arguments) \
  extern "C" result weft_abi_##original parameters;               \
  WEFT_ABI(result, name) parameters { return weft_abi_##original arguments; }

WEFT_ALIAS(void*, kmpc_malloc, (size_t size), kmp_malloc, (size));
WEFT_ALIAS(void*, kmpc_aligned_malloc, (size_t size, size_t alignment), kmp_aligned_malloc, (size, alignment));
WEFT_ALIAS(void*, kmpc_calloc, (size_t count, size_t size), kmp_calloc, (count, size));
WEFT_ALIAS(void*, kmpc_realloc, (void* memory, size_t size), kmp_realloc, (memory, size));
WEFT_ALIAS(void, kmpc_free, (void* memory), kmp_free, (memory));
WEFT_ALIAS(void, kmpc_set_blocktime, (int milliseconds), kmp_set_blocktime, (milliseconds));
WEFT_ALIAS(void, kmpc_set_library, (int library), kmp_set_library, (library));
WEFT_ALIAS(void, kmpc_set_stacksize, (int bytes), kmp_set_stacksize, (bytes));
WEFT_ALIAS(void, kmpc_set_stacksize_s, (size_t bytes), kmp_set_stacksize_s, (bytes));
WEFT_ALIAS(void, kmpc_set_disp_num_buffers, (int buffers), kmp_set_disp_num_buffers, (buffers));
WEFT_ALIAS(void, ompc_set_num_threads, (int threads), omp_set_num_threads, (threads));
WEFT_ALIAS(void, ompc_set_dynamic, (int on), omp_set_dynamic, (on));
WEFT_ALIAS(void, ompc_set_nested, (int on), omp_set_nested, (on));
WEFT_ALIAS(void, ompc_set_max_active_levels, (int levels), omp_set_max_active_levels, (levels));
WEFT_ALIAS(void, ompc_set_schedule, (int kind, int chunk), omp_set_schedule, (kind, chunk));
WEFT_ALIAS(int, ompc_get_ancestor_thread_num, (int level), omp_get_ancestor_thread_num, (level));
WEFT_ALIAS(int, ompc_get_team_size, (int level), omp_get_team_size, (level));

// ---- settings as text: NAME=VALUE, several with | between ----

namespace {

constexpr size_t kMostText = 4096;
constexpr size_t kMostSettings = 64;

class Settings {
 public:
  explicit Settings(const char* text, size_t length) noexcept {
    if (length >= sizeof text_) length = sizeof text_ - 1;
    std::memcpy(text_, text, length);
    for (char* at = text_; at != nullptr && count_ < kMostSettings;) {
      settings_[count_++] = at;
      at = std::strchr(at, '|');
      if (at != nullptr) *at++ = '\0';
    }
  }

  bool has(const char* variable) const noexcept {
    const size_t length = std::strlen(variable);
    for (size_t i = 0; i < count_; ++i) {
      if (std::strncmp(settings_[i], variable, length) == 0 && settings_[i][length] == '=') return true;
    }
    return false;
  }
  // As an environment.
  const char* const* list() const noexcept { return settings_.data(); }

 private:
  char text_[kMostText] = {};
  std::array<const char*, kMostSettings + 1> settings_{};
  size_t count_ = 0;
};

// What the current task can still take over; the rest is fixed when the process starts.
void set_defaults(const char* text, size_t length) noexcept {
  const Settings settings(text, length);
  const base::Options options = base::parse(settings.list());
  Icvs& now = own_icvs(self());
  if (settings.has("OMP_NUM_THREADS") && options.num_threads.count > 0) now.nthreads = options.num_threads.values[0];
  if (settings.has("OMP_DYNAMIC")) now.dynamic = options.dynamic;
  if (settings.has("OMP_SCHEDULE")) now.run_schedule = options.run_schedule;
  if (settings.has("OMP_MAX_ACTIVE_LEVELS") && options.max_active_levels >= 0) {
    now.max_active_levels = options.max_active_levels;
  }
}

}  // namespace

WEFT_ABI(void, kmp_set_defaults)(const char* text) { set_defaults(text, std::strlen(text)); }

WEFT_ABI(void, kmpc_set_defaults)(const char* text) { set_defaults(text, std::strlen(text)); }

WEFT_ABI(void, kmp_set_defaults_)(const char* text, int length) {
  set_defaults(text, length > 0 ? static_cast<size_t>(length) : 0);
}

// Threads that the runtime has or may have: the pool's.
WEFT_ABI(int, kmp_get_num_known_threads)() { return num_procs(); }

WEFT_ABI(int, kmp_get_num_known_threads_)() { return num_procs(); }
