// SPDX-License-Identifier: Apache-2.0
// What programs by weftcc tell of their loops, beside the interface of libomp: include/weft/loop.h.
#include "openmp/region/loop_region.h"

#include <algorithm>
#include <cstdlib>

#include "openmp/kmp/kmp.h"
#include "openmp/kmp/parallel.h"
#include "openmp/settings/loop_statistics.h"

using namespace weft::openmp;
using namespace weft::openmp::kmp;

WEFT_ABI(int, weft_parallel_for)(weft_loop* loop, weft_loop_body* body, void** captures, uint64_t count,
                                 int64_t chunk) {
  const Clauses clauses = take_clauses();
  // Where the regions inside get numbers from a list, it is not run here.
  const auto run = [=](const void*) {
    return clauses.threads >= 0 && parallel_loop(loop, body, captures, count, chunk, clauses);
  };
  if (tool::enter_region(run, std::abs(clauses.threads))) return 1;
  put_back_clauses(clauses);
  count_left_loop();
  return 0;
}

WEFT_ABI(void, weft_push_loop)(weft_loop* loop, uint64_t count, int64_t) {
  count_announced_loop();
  // What a later version means is not known.
  if (!knows(*loop)) {
    count_later_loop();
    return;
  }
  Clauses clauses = take_clauses();
  clauses.most = static_cast<int>(std::clamp<uint64_t>(count, 1, INT32_MAX));
  put_back_clauses(clauses);
}
