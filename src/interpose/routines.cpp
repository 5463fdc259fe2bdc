// SPDX-License-Identifier: Apache-2.0
// What programs, the audit library and the Python package call: include/weft/weft.h.
#include "weft/weft.h"

#include "base/options.h"
#include "interpose/copy.h"
#include "interpose/fibers.h"
#include "interpose/own_limits.h"
#include "interpose/run.h"
#include "interpose/wait_loops.h"
#include "openmp/abi/abi.h"

using namespace weft;

WEFT_ABI(int, weft_adopt_libraries)() { return base::options().adopt_libraries ? interpose::adopt_copies() : 0; }

WEFT_ABI(void, weft_blas_run)(int sync, interpose::Job job, int count, size_t size, void* data, int extra) {
  interpose::run(sync, job, count, size, data, extra);
}

WEFT_ABI(int, weft_blas_get_num_threads)(const char* path) {
  interpose::Copy* copy = interpose::copy_in(path);
  return copy != nullptr ? interpose::limit(copy) : -1;
}

WEFT_ABI(int, weft_blas_set_num_threads)(const char* path, int threads) {
  interpose::Copy* copy = interpose::copy_in(path);
  if (copy == nullptr || threads < 1) return -1;
  interpose::set_limit(copy, threads);
  return 0;
}

WEFT_ABI(int, weft_blas_sees_waits)(const char* path) {
  const interpose::Copy* copy = interpose::copy_in(path);
  if (copy == nullptr) return -1;
  return copy->sees(interpose::kArraysSeen | interpose::kListsSeen) ? 1 : 0;
}

namespace {

// The audit library has seen to it that there is such a copy.
constexpr interpose::Functions kFunctions{
    .run = interpose::run,
    .begin = [](const void* copy, long position,
                interpose::QueuedJob* jobs) { interpose::begin(interpose::copy_at(copy), position, jobs); },
    .await = [](const void*, long, interpose::QueuedJob* jobs) { interpose::await(jobs); },
    .set_threads = [](const void* copy, int threads) { interpose::set_limit(interpose::copy_at(copy), threads); },
    .get_threads = [](const void* copy) { return interpose::limit(interpose::copy_at(copy)); },
    .wait = nullptr,
};

}  // namespace

// Called by the audit library of the same release.
WEFT_ABI(const void*, weft_blas_functions)() {
  static const interpose::Functions functions = [] {
    interpose::Functions all = kFunctions;
    all.wait = interpose::Fibers::wait_entry();
    return all;
  }();
  return &functions;
}
