// SPDX-License-Identifier: Apache-2.0
// GOMP: parallel regions and leagues.
#include "openmp/gomp/gomp.h"
#include "openmp/region/league.h"

using namespace weft::openmp;
using namespace weft::openmp::gomp;

WEFT_ABI(void, GOMP_parallel)(Function function, void* data, unsigned threads, unsigned flags) {
  const auto begin = [=](const void* caller) {
    Region region(function, data);
    parallel(run_function, region.words, clauses(threads, flags), caller);
  };
  tool::enter_region(begin, static_cast<int>(threads));
}

WEFT_ABI(void, GOMP_teams_reg)(Function function, void* data, unsigned teams, unsigned thread_limit, unsigned) {
  const tool::Entry entry(WEFT_CALLER);
  Region region(function, data);
  run_league(run_function, region.words, static_cast<int>(teams), static_cast<int>(thread_limit));
}

// gcc 4.8 and older: the primary's body stands between the two.
WEFT_ABI(void, GOMP_parallel_start)(Function function, void* data, unsigned threads) {
  const tool::Entry entry(WEFT_CALLER, static_cast<int>(threads));
  Region region(function, data);
  begin_parallel(run_function, region.words, clauses(threads));
}

WEFT_ABI(void, GOMP_parallel_end)() {
  const tool::Entry entry(WEFT_CALLER);
  end_parallel();
}
