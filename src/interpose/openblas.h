// SPDX-License-Identifier: Apache-2.0
// The names and layouts of OpenBLAS on pthreads, 0.3.29 to 0.3.34: this is the one file that knows them. It needs
// nothing of libc, so that the audit library may use it. docs/explanation/process.md says how weft takes a copy over.
#pragma once

#include <cstddef>

#include "interpose/known_names.h"
#include "interpose/openblas_version.h"
#include "platform/loaded_object.h"
#include "platform/segments.h"

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

// Functions whose names differ from build to build, by words before and behind. Those for Fortran, with one underscore
// more, call the others.
enum class Known {
  none,
  set_threads,
  get_threads,
  get_configuration,
  // Those whose jobs wait for each other: dgemm_thread_nn, zherk_thread_LC, cgemm3m_thread_nt, sbgemm_thread_tn ...
  // (gemm_thread_n, of no type, only divides)
  product,
  // dgetrf_parallel ...
  factorization,
  // 0.3.29 has new names, whatever else it was built with. 0.3.28 has the callback too, but its jobs have no buffers on
  // threads that it has not started itself, and write to address 0.
  since_29,
};

// What stands behind `part` at the beginning of `text`; null: something else stands there.
inline const char* behind_begin(const char* text, const char* part) noexcept {
  while (*part != '\0' && *text == *part) ++text, ++part;
  return *part == '\0' ? text : nullptr;
}

// Whether the part of `name` before `at` ends with `part`, and has as many characters more.
inline bool ends_with(const char* name, const char* at, const char* part, ptrdiff_t more) noexcept {
  const auto size = static_cast<ptrdiff_t>(__builtin_strlen(part));
  return at - name >= size + more && behind_begin(at - size, part) != nullptr;
}

inline bool is_product(const char* name, const char* joint) noexcept {
  constexpr ptrdiff_t kTypeAndKind = 3;  // dge
  return ends_with(name, joint, "mm", kTypeAndKind) || ends_with(name, joint, "rk", kTypeAndKind) ||
         ends_with(name, joint, "mm3m", kTypeAndKind);
}

// Whether a name may be known for the sake of this underscore, before which it has something else.
inline bool may_be_known(const char* at) noexcept {
  switch (at[1]) {
    case 't': return behind_begin(at, "_thread_") != nullptr;
    case 's': return behind_begin(at, "_set_num_threads") != nullptr;
    case 'g': return behind_begin(at, "_get_num_threads") != nullptr || behind_begin(at, "_get_config") != nullptr;
    case 'p': return behind_begin(at, "_parallel") != nullptr;
    default: return at[-1] == 'r' && at[-2] == 't' && at[-3] == 'm';  // gemmtr
  }
}

inline Known known(const char* name) noexcept {
  constexpr struct {
    const char* joint;
    const char* before;
    Known what;
  } kParts[] = {{"_set_num_threads", "openblas", Known::set_threads},
                {"_set_num_threads", "goto", Known::set_threads},
                {"_get_num_threads", "openblas", Known::get_threads},
                {"_get_config", "openblas", Known::get_configuration},
                {"_parallel", "getrf", Known::factorization}};
  for (const char* at = name; *at != '\0'; ++at) {
    if (*at != '_') continue;
    if (ends_with(name, at, "gemmtr", 0)) return Known::since_29;
    if (behind_begin(at, "_thread_") != nullptr) return is_product(name, at) ? Known::product : Known::none;
    for (const auto& [joint, before, what] : kParts) {
      const char* rest = behind_begin(at, joint);
      if (rest == nullptr || !ends_with(name, at, before, 0)) continue;
      if (rest[0] == '6' && rest[1] == '4') rest += rest[2] == '_' ? 3 : 2;
      return *rest == '\0' ? what : Known::none;
    }
  }
  return Known::none;
}

// The symbols of one copy of the library.
struct OpenBlas {
  Run* run = nullptr;  // variable: the function that runs the jobs; null: its own threads
  int* threads = nullptr;  // variable: how many jobs a call is split into, at most
  int* own = nullptr;  // variable: one more than the threads it has; those have the first numbers
  int* started = nullptr;  // variable: whether it has them
  int (*run_itself)(long count, void* jobs) = nullptr;
  int (*start_own)() = nullptr;  // makes its threads, unless they are said to be there
  int (*end_own)() = nullptr;  // and gives back the buffers of all numbers
  // Jobs that run while their creator goes on, and the wait for their end. Its LU factorization calls these directly.
  int (*begin)(long position, QueuedJob* jobs) = nullptr;
  int (*await)(long count, QueuedJob* jobs) = nullptr;

  const char* (*get_configuration)() = nullptr;
  OpenBlasVersion version;  // where `segments` say what can be read

  // Whether an object has what only copies have, of whatever version; fast.
  static bool may_be(const platform::LoadedObject& object) noexcept { return object.find(kCallback) != nullptr; }

  // visit(Known, function, size): of each function of the copy that is known, if it is one.
  template <class Visit>
  OpenBlas(const platform::LoadedObject& object, const platform::Segments& segments, Visit&& visit) noexcept {
    find(object, kCallback, run);
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
    if (!complete || object.needs("omp_get_max_threads")) {
      run = nullptr;
      return;
    }
    bool new_enough = false;
    const KnownNames names(object.names(), object.size_of_names(), may_be_known);
    object.for_each_defined([&](const char* name, void* function, size_t size) {
      if (!names.holds(name)) return false;
      const Known what = known(name);
      if (what == Known::none) return false;
      new_enough |= what == Known::since_29;
      if (what == Known::get_configuration) {
        get_configuration = reinterpret_cast<const char* (*)()>(function);
        if (version.text() == nullptr) version = version_of(function, size, segments);
      }
      visit(what, function, size);
      return false;
    });
    if (!new_enough || version.is_too_old() || version.is_too_new()) run = nullptr;
  }
  OpenBlas(const platform::LoadedObject& object, const platform::Segments& segments) noexcept
      : OpenBlas(object, segments, [](Known, void*, size_t) {}) {}
  bool found() const noexcept { return run != nullptr; }

 private:
  static constexpr char kCallback[] = "openblas_threads_callback_";

  template <class T>
  static void find(const platform::LoadedObject& object, const char* name, T& into) noexcept {
    into = reinterpret_cast<T>(object.find(name));
  }
};

// Where the functions stand that wait for each other, of a build for OpenMP or pthreads: from the first of them that is
// known to the last. Null: it is no OpenBLAS.
struct WaitingFunctions {
  explicit WaitingFunctions(const platform::LoadedObject& object) noexcept {
    constexpr const char* kNames[][2] = {
        {"sgemm_thread_nn", "sgemm_thread_nn64_"}, {"zgemm_thread_cc", "zgemm_thread_cc64_"},
        {"zherk_thread_LC", "zherk_thread_LC64_"}, {"sgetrf_parallel", "sgetrf_parallel64_"},
        {"zgetrf_parallel", "zgetrf_parallel64_"}, {"zpotrf_L_parallel", "zpotrf_L_parallel64_"}};
    for (const auto& names : kNames) {
      for (const char* name : names) {
        const auto* function = static_cast<const unsigned char*>(object.find(name));
        if (function == nullptr) continue;
        if (begin == nullptr || function < begin) begin = function;
        if (end == nullptr || function > end) end = function;
      }
    }
  }

  const unsigned char* begin = nullptr;
  const unsigned char* end = nullptr;
};

// For how many numbers a copy has buffers, as its configuration says; 0: it does not say. Each call of the library's
// function writes the text anew, in one place for all threads, so a text may be half written: two readings have to
// agree.
inline int most_numbers(const char* (*get_configuration)()) noexcept {
  constexpr int kReadings = 100;
  int before = 0;
  for (int i = 0; i < kReadings && get_configuration != nullptr; ++i) {
    const char* digits = nullptr;
    for (const char* at = get_configuration(); *at != '\0' && digits == nullptr; ++at) {
      digits = behind_begin(at, "MAX_THREADS=");
    }
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
