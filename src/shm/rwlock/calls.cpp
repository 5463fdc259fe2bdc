// SPDX-License-Identifier: Apache-2.0
// The calls that are in line in C, for languages that know only the library.
#define weft_rwlock_rdlock in_line_rdlock
#define weft_rwlock_tryrdlock in_line_tryrdlock
#define weft_rwlock_rdunlock in_line_rdunlock
#include "weft/rwlock.h"
#undef weft_rwlock_rdlock
#undef weft_rwlock_tryrdlock
#undef weft_rwlock_rdunlock

#include "shm/public.h"

WEFT_PUBLIC int weft_rwlock_rdlock(weft_rwlock_reader* reader) { return in_line_rdlock(reader); }
WEFT_PUBLIC int weft_rwlock_tryrdlock(weft_rwlock_reader* reader) { return in_line_tryrdlock(reader); }
WEFT_PUBLIC int weft_rwlock_rdunlock(weft_rwlock_reader* reader) { return in_line_rdunlock(reader); }
