// SPDX-License-Identifier: Apache-2.0
// What OpenBLAS on pthreads, 0.3.28 and later, shows of itself: the one file that knows its names. Needs nothing of
// libc, so that the audit library may use it. docs/design/process.md says how it is taken over.
#pragma once

#include <cstddef>

#include "platform/loaded_object.h"

namespace weft::adopt {

// Runs job `data` as the library's thread `number`, which owns buffers: no two jobs of a copy that run at the same
// time may have the same one.
using Job = void (*)(int number, void* data, int extra);

// What the library calls in place of its own threads: job(number, data + i * size, extra) is to run for every i < count,
// all at the same time, since jobs spin on each other.
using Run = void (*)(int sync, Job job, int count, size_t size, void* data, int extra);

// Its variables, in the copy that `object` is.
struct OpenBlas {
  Run* run;             // null: its own threads run the jobs
  int* threads;         // how many jobs a call is split into, at most
  const int* own;       // one more than the threads it has; those have the first numbers
  int (*run_itself)(long count, void* jobs);
  int (*start_own)();  // makes its threads where there are none, as after a fork

  explicit OpenBlas(const platform::LoadedObject& object) noexcept
      : run(static_cast<Run*>(object.find("openblas_threads_callback_"))) {
    if (run == nullptr) return;
    threads = static_cast<int*>(object.find("blas_cpu_number"));
    own = static_cast<const int*>(object.find("blas_num_threads"));
    run_itself = reinterpret_cast<int (*)(long, void*)>(object.find("exec_blas"));
    start_own = reinterpret_cast<int (*)()>(object.find("blas_thread_init"));
    // The build for OpenMP finds weft by itself.
    const bool complete = threads != nullptr && own != nullptr && run_itself != nullptr && start_own != nullptr;
    if (!complete || object.needs("omp_get_max_threads")) run = nullptr;
  }
  bool found() const noexcept { return run != nullptr; }
};

}  // namespace weft::adopt
