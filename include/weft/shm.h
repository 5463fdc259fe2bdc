/* SPDX-License-Identifier: Apache-2.0 */
/* What weft/rwlock.h and weft/kv.h have in common. Both are in libweft-shm.so, which needs libc alone:
 * `pkg-config --cflags --libs weft-shm`, or weft::shm of CMake's package `weft`. It may be used with or without weft's
 * runtime; under the runtime a user-level thread that waits lets others run.
 *
 * All calls return 0 or an errno value, and leave errno itself alone. */
#ifndef WEFT_SHM_H
#define WEFT_SHM_H

#ifdef __cplusplus
extern "C" {
#endif

/* What the calling thread's last call that failed has to say: which input, why, and the way out. One line without its
 * end; never null, empty before the first failure, and valid until the thread's next call that fails. EBUSY and
 * ETIMEDOUT of calls that try or wait until a deadline are answers rather than failures, and leave it as it is. */
const char *weft_shm_error(void);

#ifdef __cplusplus
}
#endif

#endif
