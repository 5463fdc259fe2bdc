// SPDX-License-Identifier: Apache-2.0
// Loops as user-level threads of Argobots, one for each item but the caller's. An execution stream takes turns between
// its threads, so that it may have several pieces of a loop: there are no slots, and the items are members. Each stream
// has a pool of its own, so that no thread moves to another stream.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include <abt.h>
#include <unistd.h>

#include "weft/engine.h"

namespace {

// The pool of each stream. Never destroyed: streams run until the very end.
std::vector<ABT_pool>& g_pools = *new std::vector<ABT_pool>;

// How many threads of a loop have not ended. It lasts until the last of them has told the thread that waits.
using Left = std::shared_ptr<std::atomic<uint64_t>>;

struct Item {
  weft_engine_loop* loop;
  uint64_t number;
  Left left;
};

void run_item(void* data) {
  // The one in the caller's memory may be gone as soon as this has been counted.
  const Item item = *static_cast<const Item*>(data);
  item.loop->piece(item.loop, 0, item.number, item.number + 1);
  if (item.left->fetch_sub(1) == 1) item.left->notify_all();
}

// Null, or what Argobots lacks.
const char* make_streams(size_t streams) {
  if (ABT_init(0, nullptr) != ABT_SUCCESS) return "Argobots does not start";
  g_pools.resize(streams);
  for (ABT_pool& pool : g_pools) {
    ABT_xstream stream;
    if (ABT_xstream_create(ABT_SCHED_NULL, &stream) != ABT_SUCCESS ||
        ABT_xstream_get_main_pools(stream, 1, &pool) != ABT_SUCCESS) {
      return "Argobots cannot make a stream for each CPU but one";
    }
  }
  return nullptr;
}

const char* start(int32_t cpus) {
  // The default is 16 KB, too little for the code that loops call.
  setenv("ABT_THREAD_STACKSIZE", "1048576", 0);
  // The thread that initializes Argobots becomes a stream, which stands still whenever that thread does something else.
  // So it is one that does nothing.
  std::promise<const char*> made;
  // Streams never rest, and the thread of the program that runs a loop is one more.
  const auto streams = static_cast<size_t>(std::max(cpus - 1, 1));
  std::thread([&made, streams] {
    made.set_value(make_streams(streams));
    for (;;) pause();
  }).detach();
  return made.get_future().get();
}

int32_t slots() { return 0; }

// Not by joining: with threads of the program among those that join, some of them were never told.
void await(const std::atomic<uint64_t>& left, bool inside) {
  for (uint64_t now = left.load(); now != 0; now = left.load()) {
    if (inside) {
      ABT_thread_yield();
    } else {
      left.wait(now);
    }
  }
}

// The caller runs the first item itself.
void run(weft_engine_loop* loop) {
  // The first stream is that of the thread that stands still.
  int rank = 0;
  const bool inside = ABT_self_get_xstream_rank(&rank) == ABT_SUCCESS;
  const size_t own = inside ? static_cast<size_t>(rank - 1) : g_pools.size() - 1;
  const auto left = std::make_shared<std::atomic<uint64_t>>(loop->count - 1);
  std::vector<Item> items(loop->count);
  for (uint64_t number = 1; number < loop->count; ++number) {
    items[number] = {loop, number, left};
    ABT_pool pool = g_pools[(own + number) % g_pools.size()];
    if (ABT_thread_create(pool, run_item, &items[number], ABT_THREAD_ATTR_NULL, nullptr) != ABT_SUCCESS) {
      run_item(&items[number]);  // there is no memory for a thread
    }
  }
  loop->piece(loop, 0, 0, 1);
  await(*left, inside);
}

constexpr weft_engine kEngine{WEFT_ENGINE_VERSION, 0, start, slots, run};

}  // namespace

extern "C" [[gnu::visibility("default")]] const weft_engine* weft_engine_entry() { return &kEngine; }
