// SPDX-License-Identifier: Apache-2.0
// What programs, the audit library and the Python package call: include/weft/weft.h.
#include "weft/weft.h"

#include "adopt/copy.h"
#include "adopt/fibers.h"
#include "adopt/run.h"
#include "adopt/shares.h"
#include "base/options.h"
#include "openmp/abi/abi.h"

using namespace weft;

WEFT_ABI int weft_abi_weft_adopt_libraries() { return base::options().adopt_libraries ? adopt::adopt_copies() : 0; }
WEFT_ABI_EXPORT(weft_adopt_libraries);

WEFT_ABI void weft_abi_weft_blas_run(int sync, adopt::Job job, int count, size_t size, void* data, int extra) {
  adopt::run(sync, job, count, size, data, extra);
}
WEFT_ABI_EXPORT(weft_blas_run);

WEFT_ABI int weft_abi_weft_blas_get_num_threads(const char* path) {
  adopt::Copy* copy = adopt::copy_in(path);
  return copy != nullptr ? adopt::limit(copy) : -1;
}
WEFT_ABI_EXPORT(weft_blas_get_num_threads);

WEFT_ABI int weft_abi_weft_blas_set_num_threads(const char* path, int threads) {
  adopt::Copy* copy = adopt::copy_in(path);
  if (copy == nullptr || threads < 1) return -1;
  adopt::set_limit(copy, threads);
  return 0;
}
WEFT_ABI_EXPORT(weft_blas_set_num_threads);

namespace {

// The audit library has seen to it that there is such a copy.
constexpr adopt::Functions kFunctions{
    .run = adopt::run,
    .begin = [](const void* copy, long position,
                adopt::QueuedJob* jobs) { adopt::begin(adopt::copy_at(copy), position, jobs); },
    .await = [](const void*, long, adopt::QueuedJob* jobs) { adopt::await(jobs); },
    .set_threads = [](const void* copy, int threads) { adopt::set_limit(adopt::copy_at(copy), threads); },
    .get_threads = [](const void* copy) { return adopt::limit(adopt::copy_at(copy)); },
    .wait = nullptr,
};

}  // namespace

// For the audit library of the same release.
WEFT_ABI const void* weft_abi_weft_blas_functions() {
  static const adopt::Functions functions = [] {
    adopt::Functions all = kFunctions;
    all.wait = adopt::Fibers::wait_entry();
    return all;
  }();
  return &functions;
}
WEFT_ABI_EXPORT(weft_blas_functions);
