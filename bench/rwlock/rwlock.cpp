// SPDX-License-Identifier: Apache-2.0
// Reader-writer locks between processes: rwlock --algorithm NAME [--measure NAME] [--readers N] [--milliseconds N]
// [--writes-per-second N] [--free]. Verifies that the lock excludes, measures, and prints JSON.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <pthread.h>

#include "rwlock/algorithms/n_mcs.h"
#include "rwlock/algorithms/n_mutex_signal.h"
#include "rwlock/algorithms/none.h"
#include "rwlock/algorithms/pthread.h"
#include "rwlock/algorithms/seqlock.h"
#include "rwlock/algorithms/two_n_mutex.h"
#include "rwlock/algorithms/weft.h"
#include "rwlock/harness.h"

namespace {

using namespace bench;

enum class Measure { kRead, kWriter, kVerify };

template <typename Lock>
void run(const Plan& plan, Measure measure) {
  Harness harness(plan);
  harness.verify<Lock>();
  if (measure == Measure::kRead) harness.without_writer<Lock>();
  if (measure == Measure::kWriter) harness.with_writer<Lock>();
}

struct Algorithm {
  const char* name;
  void (*run)(const Plan& plan, Measure measure);
};

constexpr Algorithm kAlgorithms[] = {
    {"weft", run<WeftRwlock<0>>},
    {"weft-portable", run<WeftRwlock<WEFT_RWLOCK_PORTABLE>>},
    {"weft-phase-fair", run<WeftRwlock<WEFT_RWLOCK_PHASE_FAIR>>},
    {"2n-mutex", run<TwoNMutex>},
    {"n-mutex-signal", run<NMutexSignal>},
    {"n-mcs", run<NMcs>},
    {"pthread-rwlock", run<PthreadRwlock<PTHREAD_RWLOCK_PREFER_READER_NP>>},
    {"pthread-rwlock-writer", run<PthreadRwlock<PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP>>},
    {"n-robust-mutex", run<NRobustMutex>},
    {"seqlock", run<Seqlock>},
    {"none", run<None>},
};

[[noreturn]] void usage() {
  std::fprintf(stderr,
               "usage: rwlock --algorithm NAME [--measure read|writer|verify] [--readers N] [--milliseconds N]\n"
               "              [--writes-per-second N] [--free]\n"
               "  read     readers alone: nanoseconds of one read lock and unlock\n"
               "  writer   readers without a pause and one writer: its time until it has the lock, reads a second\n"
               "  verify   only whether the lock excludes, which is looked at before each measurement too\n"
               "  --writes-per-second N   how often the writer writes (0, the default: one write behind the other)\n"
               "  --free   processes are bound to no CPU\n"
               "algorithms:");
  for (const Algorithm& algorithm : kAlgorithms) std::fprintf(stderr, " %s", algorithm.name);
  std::fprintf(stderr, "\n");
  std::exit(2);
}

}  // namespace

int main(int count, char** arguments) {
  Plan plan;
  Measure measure = Measure::kRead;
  const Algorithm* chosen = nullptr;
  for (int i = 1; i < count; ++i) {
    const std::string option = arguments[i];
    if (option == "--free") {
      plan.bound = false;
      continue;
    }
    const char* value = ++i < count ? arguments[i] : "";
    if (option == "--algorithm") {
      for (const Algorithm& algorithm : kAlgorithms)
        if (std::strcmp(algorithm.name, value) == 0) chosen = &algorithm;
    } else if (option == "--measure") {
      const std::string name = value;
      if (name != "read" && name != "writer" && name != "verify") usage();
      measure = name == "read" ? Measure::kRead : name == "writer" ? Measure::kWriter : Measure::kVerify;
    } else if (option == "--readers") {
      plan.readers = number(option, value, 1, 200);
    } else if (option == "--milliseconds") {
      plan.milliseconds = number(option, value, 1, 30'000);
    } else if (option == "--writes-per-second") {
      plan.writes_per_second = number(option, value, 0, 1'000'000);
    } else {
      usage();
    }
  }
  if (chosen == nullptr) usage();
  std::printf("{");
  chosen->run(plan, measure);
  std::printf("}\n");
}
