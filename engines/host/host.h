// SPDX-License-Identifier: Apache-2.0
// The machine's own OpenMP runtime, gcc's libgomp, beside weft in one process. weft is known there as libgomp too, so
// this one is opened by its path, and called by the addresses of its functions: no symbol of the two ever meets.
#pragma once

#include <cstdint>

namespace weft::engines {

struct Host {
  // As gcc 12 calls them (libgomp_g.h).
  void (*parallel)(void (*function)(void*), void* data, unsigned threads, unsigned flags);
  void (*task)(void (*function)(void*), void* data, void (*copy)(void*, void*), long size, long alignment,
               bool deferred, unsigned flags, void** depend, int priority, void* detach);
  void (*taskloop)(void (*function)(void*), void* data, void (*copy)(void*, void*), long size, long alignment,
                   unsigned flags, unsigned long tasks, int priority, unsigned long long begin, unsigned long long end,
                   unsigned long long step);
  void (*begin_taskgroup)();
  void (*end_taskgroup)();
  int (*level)();
  int (*number)();
  int (*threads)();

  int32_t cpus;  // threads of a team that is begun
};

// The runtime that has been opened.
extern Host g_host;

// As of weft_engine.
const char* start_host(int32_t cpus);
int32_t host_slots();

// Calls `generate`, which makes tasks and waits for them, on one thread of a team: the caller's team if it is in one.
// The others run tasks.
void in_team(void (*generate)(void*), void* data);

}  // namespace weft::engines
