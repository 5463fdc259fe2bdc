// SPDX-License-Identifier: Apache-2.0
// The names and layouts of OpenBLAS on pthreads, 0.3.29 and later: this is the one file that knows them. It needs
// nothing of libc, so that the audit library may use it. docs/explanation/process.md says how weft takes a copy over.
#pragma once

#include <cstddef>
#include <cstring>
#include <initializer_list>

#include "platform/loaded_object.h"

namespace weft::interpose {

// Runs job `data` as the library's thread `number`, which owns buffers: no two jobs of a copy that run at the same
// time may have the same one.
using Job = void (*)(int number, void* data, int extra);

// The function that the library calls in place of its own threads: it runs job(number, data + i * size, extra) for
// every i < count, all at the same time, since jobs spin on each other.
using Run = void (*)(int sync, Job job, int count, size_t size, void* data, int extra);

// The operands of a routine (blas_arg_t), as far as weft needs them. Level-1 routines have no columns.
struct Operands {
  void* data[6];
  long rows;
  long columns;
};

// A job as the library queues it (blas_queue_t). The fields behind these depend on how the library was built.
struct QueuedJob {
  void* routine;
  long position;  // among the jobs of its call
  void* assigned;  // for the use of the thread that runs it
  Operands* operands;
  void* arguments[4];
  QueuedJob* next;
};

// The rest of `name` after `part`; null: the name does not contain it.
inline const char* behind(const char* name, const char* part) noexcept {
  for (; *name != '\0'; ++name) {
    const char* a = name;
    const char* b = part;
    while (*b != '\0' && *a == *b) ++a, ++b;
    if (*b == '\0') return a;
  }
  return nullptr;
}

// Whether it is 0.3.29 or later: that version has new names, whatever else it was built with. 0.3.28 has the callback
// too, but its jobs have no buffers on threads that it has not started itself, and write to address 0.
inline bool is_new_enough(const platform::LoadedObject& object) noexcept {
  bool found = false;
  object.for_each_defined([&found](const char* name, void*, size_t) {
    found = behind(name, "gemmtr") != nullptr;
    return found;
  });
  return found;
}

// The symbols of one copy of the library.
struct OpenBlas {
  Run* run;      // variable: the function that runs the jobs; null: its own threads
  int* threads;  // variable: how many jobs a call is split into, at most
  int* own;      // variable: one more than the threads it has; those have the first numbers
  int* started;  // variable: whether it has them
  int (*run_itself)(long count, void* jobs);
  int (*start_own)();  // makes its threads, unless they are said to be there
  int (*end_own)();    // and gives back the buffers of all numbers
  // Jobs that run while their creator goes on, and the wait for their end. Its LU factorization calls these directly.
  int (*begin)(long position, QueuedJob* jobs);
  int (*await)(long count, QueuedJob* jobs);

  explicit OpenBlas(const platform::LoadedObject& object) noexcept {
    find(object, "openblas_threads_callback_", run);
    if (run == nullptr) return;
    find(object, "blas_cpu_number", threads);
    find(object, "blas_num_threads", own);
    find(object, "blas_server_avail", started);
    find(object, "exec_blas", run_itself);
    find(object, "blas_thread_init", start_own);
    find(object, "blas_thread_shutdown_", end_own);
    find(object, "exec_blas_async", begin);
    find(object, "exec_blas_async_wait", await);
    const bool complete = threads != nullptr && own != nullptr && started != nullptr && run_itself != nullptr &&
                          start_own != nullptr && end_own != nullptr && begin != nullptr && await != nullptr;
    // The build for OpenMP finds weft by itself.
    if (!complete || !is_new_enough(object) || object.needs("omp_get_max_threads")) run = nullptr;
  }
  bool found() const noexcept { return run != nullptr; }

 private:
  template <class T>
  static void find(const platform::LoadedObject& object, const char* name, T& into) noexcept {
    into = reinterpret_cast<T>(object.find(name));
  }
};

// Functions whose names differ from build to build, by words before and behind. Those for Fortran, with one underscore
// more, call the others.
enum class Known { none, set_threads, get_threads, get_configuration };

inline Known known(const char* name) noexcept {
  constexpr struct {
    const char* part;
    Known what;
  } kParts[] = {{"openblas_set_num_threads", Known::set_threads},
                {"goto_set_num_threads", Known::set_threads},
                {"openblas_get_num_threads", Known::get_threads},
                {"openblas_get_config", Known::get_configuration}};
  for (const auto& [part, what] : kParts) {
    const char* rest = behind(name, part);
    if (rest == nullptr) continue;
    if (rest[0] == '6' && rest[1] == '4') rest += rest[2] == '_' ? 3 : 2;
    return *rest == '\0' ? what : Known::none;
  }
  return Known::none;
}

// Functions whose jobs wait for each other: dgemm_thread_nn, zherk_thread_LC, cgemm3m_thread_nt, sbgemm_thread_tn ...
// (gemm_thread_n, of no type, only divides); and dgetrf_parallel ...
inline bool is_product(const char* name) noexcept {
  const char* rest = behind(name, "_thread_");
  if (rest == nullptr) return false;
  constexpr ptrdiff_t kJoint = 8;  // _thread_
  constexpr ptrdiff_t kTypeAndKind = 3;  // dge
  for (const char* kind : {"mm", "rk", "mm3m"}) {
    const size_t size = std::strlen(kind);
    const char* found = rest - kJoint - size;
    if (found - name >= kTypeAndKind && std::strncmp(found, kind, size) == 0) return true;
  }
  return false;
}
inline bool is_factorization(const char* name) noexcept {
  const char* rest = behind(name, "getrf_parallel");
  return rest != nullptr && *rest == '\0';
}

// For how many numbers a copy has buffers, as its configuration says; 0: it does not say. Each call of the library's
// function writes the text anew, in one place for all threads, so a text may be half written: two readings have to
// agree.
inline int most_numbers(const char* (*get_configuration)()) noexcept {
  constexpr int kReadings = 100;
  int before = 0;
  for (int i = 0; i < kReadings && get_configuration != nullptr; ++i) {
    const char* digits = behind(get_configuration(), "MAX_THREADS=");
    int most = 0;
    for (; digits != nullptr && *digits >= '0' && *digits <= '9'; ++digits) most = 10 * most + (*digits - '0');
    if (most > 0 && most == before) return most;
    before = most;
  }
  return 0;
}

// The functions of weft's runtime that the audit library calls. It names a copy by any address in it.
struct Functions {
  Run run;
  void (*begin)(const void* copy, long position, QueuedJob* jobs);
  void (*await)(const void* copy, long count, QueuedJob* jobs);
  void (*set_threads)(const void* copy, int threads);
  int (*get_threads)(const void* copy);
  // The function that jobs call when they wait for each other (interpose/wait_loops.h). It keeps all registers.
  const void* wait;
};

}  // namespace weft::interpose
