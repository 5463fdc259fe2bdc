/* SPDX-License-Identifier: Apache-2.0 */
/* Engines: libraries that run the loops of weftcc's programs in weft's place, so that schedulers can be compared on the
 * same code. An engine is a shared library libweft-engine-NAME.so beside the runtime; WEFT_ENGINE=NAME loads it.
 * docs/explanation/engines.md says what an engine sees of OpenMP, and when a loop stays with weft. */
#ifndef WEFT_ENGINE_H
#define WEFT_ENGINE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of this header; in weft_engine::version. The runtime takes no engine of another version. */
#define WEFT_ENGINE_VERSION 1

struct weft_engine_loop;

/* Runs items begin .. end-1, which are not empty. `slot`: see weft_engine::slots. */
typedef void weft_engine_piece(struct weft_engine_loop *loop, int32_t slot, uint64_t begin, uint64_t end);

/* What an engine is to run. It lasts until weft_engine::run has returned; more of the runtime's stands behind it. */
struct weft_engine_loop {
  weft_engine_piece *piece;
  uint64_t count;  /* items, numbered from 0; at least one */
  uint64_t chunk;  /* no piece may hold more; 0: pieces are as the engine likes */
};

/* An engine guarantees:
 * - Each item is in one piece, and run() returns when all pieces have returned. What they have written is seen then.
 * - A piece ends on the OS thread that it began on. The same holds for run().
 * - run() may be called by several threads at once, and inside a piece.
 * - It lets no exception out, and has no other way to fail than to end the process. */
struct weft_engine {
  uint32_t version;  /* WEFT_ENGINE_VERSION */
  uint32_t reserved; /* 0 */

  /* Called once, before all else: the engine is to use about `cpus` threads. Returns NULL, or why it cannot be used;
   * then nothing else of it is called. */
  const char *(*start)(int32_t cpus);

  /* How many slots a loop has that the calling thread runs now. A piece has a slot 0 .. slots-1 that no other piece of
   * the same loop has at the same time. A piece that has begun and waits, for a loop inside of it, still has its own.
   * 0: the engine has no such numbers; then `slot` is ignored, and items are members that fetch iterations by
   * themselves. */
  int32_t (*slots)(void);

  void (*run)(struct weft_engine_loop *loop);
};

/* The one function that an engine exports. */
const struct weft_engine *weft_engine_entry(void);
typedef const struct weft_engine *weft_engine_entry_function(void);

#ifdef __cplusplus
}
#endif

#endif
