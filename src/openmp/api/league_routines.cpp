// SPDX-License-Identifier: Apache-2.0
// The routines of teams regions (OpenMP 5.2, section 18.4).
#include "openmp/region/league.h"

#include "openmp/api/fortran.h"

using namespace weft::openmp;

WEFT_ROUTINE_GET(int, omp_get_num_teams, self()->team->league.size);
WEFT_ROUTINE_GET(int, omp_get_team_num, self()->team->league.number);
WEFT_ROUTINE_GET(int, omp_get_max_teams, league_size());
WEFT_ROUTINE_SET_INT(omp_set_num_teams, set_league_size);
WEFT_ROUTINE_GET(int, omp_get_teams_thread_limit, league_thread_limit());
WEFT_ROUTINE_SET_INT(omp_set_teams_thread_limit, set_league_thread_limit);
