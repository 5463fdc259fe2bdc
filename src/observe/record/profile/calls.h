/* SPDX-License-Identifier: Apache-2.0 */
/* What a program may call of libweft-observe.so to have a part of itself recorded, as often as it likes. The Python
 * package does so for the cells of a notebook (python/weft/_recorder.py). The recorder is to be loaded as the process's
 * tool of OMPT (OMP_TOOL_LIBRARIES), with WEFT_PROFILE_PAUSED set to the number of the process; it waits then.
 *
 * Each call answers null, or what is wrong in words for the user; these stay until the next call. Calls may
 * come from any thread and at any time. In the child of a fork all of them fail. */
#ifndef WEFT_PROFILE_CALLS_H
#define WEFT_PROFILE_CALLS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Recording begins. The caller's serial part is "before the first region" from here on, if the caller has called OpenMP
 * before (omp_get_max_threads() will do) and is outside of regions. Regions that are open in other threads go on
 * untold; they are told from their next region on. Fails while a recording runs. */
const char* weft_profile_begin(void);

/* Recording ends, and its profile is written into the folder, as NUMBER_OF_THE_PROCESS.json, for `weft report
 * --profile`. The title's words stand for the command line in the report; null: the process's own. Where the profile
 * cannot be written recording has ended all the same. Fails while none runs. */
const char* weft_profile_write(const char* folder, const char* title);

/* Recording ends, and nothing is written. */
const char* weft_profile_cancel(void);

#ifdef __cplusplus
}
#endif

#endif
