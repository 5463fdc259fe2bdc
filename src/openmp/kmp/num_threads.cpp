// SPDX-License-Identifier: Apache-2.0
// KMP: the num_threads clause with a list, and with the strict modifier (OpenMP 6.0, section 12.1.2).
#include <cstdlib>

#include "base/message.h"
#include "openmp/kmp/parallel.h"

using namespace weft;
using namespace weft::openmp;
using namespace weft::openmp::kmp;

namespace {

constexpr int32_t kFatal = 2;  // severity

// The numbers are a demand: says so when the region would get fewer.
void demand(const Ident* location, int32_t wanted, int32_t severity, const char* message) {
  const int size = planned_team_size(self(), wanted);
  if (size >= wanted) return;
  const char* where = location != nullptr && location->source != nullptr ? location->source : "";
  base::warn(
      "num_threads(strict: %d): the region gets %d; OMP_THREAD_LIMIT, OMP_MAX_ACTIVE_LEVELS and OMP_DYNAMIC bound "
      "it%s%s (%s)",
      wanted, size, message != nullptr ? ": " : "", message != nullptr ? message : "", where);
  if (severity == kFatal) std::exit(EXIT_FAILURE);
}

}  // namespace

WEFT_ABI(void, __kmpc_push_num_threads_strict)(Ident* location, int32_t, int32_t threads, int32_t severity,
                                               const char* message) {
  demand(location, threads, severity, message);
  push_num_threads(&threads, 1);
}

WEFT_ABI(void, __kmpc_push_num_threads_list)(Ident*, int32_t, uint32_t count, const int32_t* list) {
  push_num_threads(list, static_cast<int>(count));
}

// What is demanded is looked at for this region; the levels below say their numbers themselves.
WEFT_ABI(void, __kmpc_push_num_threads_list_strict)(Ident* location, int32_t, uint32_t count, const int32_t* list,
                                                    int32_t severity, const char* message) {
  if (count > 0) demand(location, list[0], severity, message);
  push_num_threads(list, static_cast<int>(count));
}

// The region that a number was pushed for has taken it.
WEFT_ABI(void, __kmpc_pop_num_threads)(Ident*, int32_t) {}
