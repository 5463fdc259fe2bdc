/* SPDX-License-Identifier: Apache-2.0 */
/* A store of keys and values in shared memory. Reading takes no lock, writes nothing, and waits for nobody; one process
 * writes at a time. A process that is killed at any point leaves the store whole: each key has its old value or its new
 * one.
 *
 *     weft_kv *kv;
 *     weft_kv_open(&kv, "settings", 1 << 30, WEFT_KV_CREATE);
 *     weft_kv_put(kv, "rate", 4, &rate, sizeof rate, NULL);
 *     weft_kv_get(kv, "rate", 4, &rate, sizeof rate, &length, NULL);
 *     weft_kv_close(kv);
 *
 * Keys and values are bytes; either may be empty. Each change gets a version, a number greater than all before.
 *
 * A store is a file in memory. It takes address space for its greatest size at once, and memory as it grows. It stays
 * until weft_kv_unlink(); who has it open then goes on using it.
 *
 * All calls may be made by any thread of any process at any time, but not by handlers of signals. An open store works
 * in the child of a fork too, but not of clone(2) or _Fork(). A process that is stopped (SIGSTOP) while it writes keeps others from writing, whose calls
 * then fail with ETIMEDOUT, and nobody from reading. A file that was copied while a process wrote, or whose machine was
 * booted anew, is a store like any other. Nobody may make the file shorter while it is used. Each call returns 0 or the
 * errno value that stands with it, and weft_shm_error() (weft/shm.h) says more. EBADMSG, of any call: the store is damaged, since something
 * else has written into it. EINVAL, of any call: null where that is not allowed. */
#ifndef WEFT_KV_H
#define WEFT_KV_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "shm.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_kv weft_kv;

enum {
  WEFT_KV_CREATE = 1, /* make the store if there is none */
  WEFT_KV_EXCLUSIVE = 2, /* with WEFT_KV_CREATE: fail if there is one */
  WEFT_KV_READ_ONLY = 4 /* for reading; of stores that the user may not write, too */
};

/* The least size of a store, and the greatest. */
#define WEFT_KV_LEAST_BYTES ((size_t)64 << 10)
#define WEFT_KV_MOST_BYTES ((size_t)1 << 44)

/* Opens a store. `name`: that of a store of this user in /dev/shm, or, if it has a slash, the path of a file.
 * `max_bytes`: the size that it may grow to, if it is made now; 0 is 1 GB.
 * ENOENT: there is none. EEXIST: there is one (WEFT_KV_EXCLUSIVE). EACCES: the user may not. EINVAL: an unusable name,
 * size
 * or flag, or WEFT_KV_EXCLUSIVE without WEFT_KV_CREATE. EBADMSG: the file is no store. EPROTO: made by another version of
 * weft, or by a program of another word size or byte order. ENOSPC: no room for its beginning. EFBIG: beyond
 * the limit of file sizes (ulimit -f). ENOMEM: no address space (ulimit -v). Others of open(2) and mmap(2). */
int weft_kv_open(weft_kv **kv, const char *name, size_t max_bytes, unsigned flags);
int weft_kv_close(weft_kv *kv);

/* Removes the store's name. ENOENT, EACCES and others of unlink(2). */
int weft_kv_unlink(const char *name);

/* The value of a key: its first `size` bytes go to `value`, its length to `*length`, its version to `*version`; both may
 * be null, and so may `value` where `size` is 0. All are of one moment between the call and its return.
 * ENOENT: there is no such key. ERANGE: the value is longer than `size`; `*length` says how long, and `value` holds
 * nothing of use. */
int weft_kv_get(const weft_kv *kv, const void *key, size_t key_length, void *value, size_t size, size_t *length,
                uint64_t *version);

/* How long one and the same change of another process may keep a change through `kv` waiting: 10 seconds at first. Changes
 * that come one after the other may take longer together. 0: not at all; null: for any time. */
int weft_kv_set_timeout(weft_kv *kv, const struct timespec *longest);

/* Gives a key a value, and says the version if that is not null.
 * ETIMEDOUT: somebody else has been writing for longer than weft_kv_set_timeout() says; weft_shm_error() names the process.
 * EINTR: signals kept the kernel from giving the store more memory; try again.
 * ENOSPC: the store has its greatest size and no room for the value, or its file system is full. EMSGSIZE: key and value
 * would never fit. EACCES: opened for reading. EBADF: the store has to grow, and the program has closed its file
 * descriptor. EDEADLK: called by a handler of a signal that came while the same thread
 * wrote. ENOMEM: to tidy up after a process that has died while it wrote, or a store that is full. */
int weft_kv_put(weft_kv *kv, const void *key, size_t key_length, const void *value, size_t length, uint64_t *version);

/* The same if the key has the version `expected`; 0: if it does not exist. EAGAIN: it has another version, which
 * `*version` says. EEXIST: it exists (`expected` 0), `*version` as before. ENOENT: it does not. */
int weft_kv_put_if(weft_kv *kv, const void *key, size_t key_length, const void *value, size_t length, uint64_t expected,
                   uint64_t *version);

/* ENOENT: there is no such key. EACCES and others as above. */
int weft_kv_delete(weft_kv *kv, const void *key, size_t key_length);
/* The same if the key has the version `expected`. EAGAIN: it has another version. */
int weft_kv_delete_if(weft_kv *kv, const void *key, size_t key_length, uint64_t expected);

/* The keys, in an order of the store's own. weft_kv_first() gives the first key, weft_kv_next() the one behind `key`,
 * which need not exist any more. `key` has room for `size` bytes; `*length` is the length of the key before, and becomes
 * that of the next one. A key that exists all the while comes exactly once, whatever else is put and deleted.
 * ENOENT: there are no more. ERANGE: the key is longer than `size`; `*length` says how long, and `key` is unchanged:
 * weft_kv_next() needs the length of the key before again. */
int weft_kv_first(const weft_kv *kv, void *key, size_t size, size_t *length);
int weft_kv_next(const weft_kv *kv, void *key, size_t size, size_t *length);

/* Waits until something has changed since version `seen`, which weft_kv_stat_get() or an earlier call has said, or
 * until `deadline` of CLOCK_MONOTONIC, if that is not null. `*version`: the latest one. ETIMEDOUT. */
int weft_kv_wait(const weft_kv *kv, uint64_t seen, const struct timespec *deadline, uint64_t *version);

typedef struct weft_kv_stat {
  uint64_t keys;
  uint64_t version; /* of the last change */
  uint64_t max_bytes; /* that the store may have */
  uint64_t file_bytes; /* that it has of memory */
  uint64_t used_bytes; /* of those, by keys, values and the table; the rest is free for new ones */
  uint64_t recoveries; /* how often a process has died while it wrote */
  int unlinked; /* the store has no name any more */
} weft_kv_stat;

/* What it says was so a moment ago. EBADF: the program has closed the store's file descriptor; `unlinked` is unknown, and
 * all else is said. */
int weft_kv_stat_get(const weft_kv *kv, weft_kv_stat *stat);

#ifdef __cplusplus
}
#endif

#endif
