// SPDX-License-Identifier: Apache-2.0
// Loops as user-level threads of Argobots, one for each item but the caller's. An execution stream takes turns between
// its threads, so that it may have several pieces of a loop: there are no slots, and the items are members. Each stream
// has a pool of its own, so that no thread moves to another stream.
#include <cstdlib>
#include <vector>

#include <abt.h>

#include "weft/engine.h"

namespace {

// The pool of each stream; the first is the thread's that has started the engine.
std::vector<ABT_pool> g_pools;

struct Item {
  weft_engine_loop* loop;
  uint64_t number;
  ABT_thread thread;
};

void run_item(void* data) {
  const auto* item = static_cast<const Item*>(data);
  item->loop->piece(item->loop, 0, item->number, item->number + 1);
}

const char* start(int32_t cpus) {
  // The default is 16 KB, too little for the code that loops call.
  setenv("ABT_THREAD_STACKSIZE", "1048576", 0);
  if (ABT_init(0, nullptr) != ABT_SUCCESS) return "Argobots does not start";
  g_pools.resize(static_cast<size_t>(cpus));
  ABT_xstream stream;
  if (ABT_xstream_self(&stream) != ABT_SUCCESS) return "Argobots has no stream for the calling thread";
  for (ABT_pool& pool : g_pools) {
    if (&pool != g_pools.data() && ABT_xstream_create(ABT_SCHED_NULL, &stream) != ABT_SUCCESS) {
      return "Argobots cannot make a stream for each CPU";
    }
    if (ABT_xstream_get_main_pools(stream, 1, &pool) != ABT_SUCCESS) return "a stream of Argobots has no pool";
  }
  return nullptr;
}

int32_t slots() { return 0; }

// The stream that the caller is on; any one where it is on none.
size_t own_stream() {
  int rank = 0;
  return ABT_self_get_xstream_rank(&rank) == ABT_SUCCESS ? static_cast<size_t>(rank) : 0;
}

void run(weft_engine_loop* loop) {
  std::vector<Item> items(loop->count);
  const size_t own = own_stream();
  for (uint64_t number = 1; number < loop->count; ++number) {
    items[number] = {loop, number, ABT_THREAD_NULL};
    // Without memory for a thread the caller runs the item itself.
    ABT_thread_create(g_pools[(own + number) % g_pools.size()], run_item, &items[number], ABT_THREAD_ATTR_NULL,
                      &items[number].thread);
  }
  loop->piece(loop, 0, 0, 1);
  for (uint64_t number = 1; number < loop->count; ++number) {
    if (items[number].thread != ABT_THREAD_NULL) {
      ABT_thread_free(&items[number].thread);  // joins it
    } else {
      run_item(&items[number]);
    }
  }
}

constexpr weft_engine kEngine{WEFT_ENGINE_VERSION, 0, start, slots, run};

}  // namespace

extern "C" [[gnu::visibility("default")]] const weft_engine* weft_engine_entry() { return &kEngine; }
