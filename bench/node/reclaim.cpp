// SPDX-License-Identifier: Apache-2.0
// How long it takes until CPUs that another process has are one's own: those of one's share, when the other process
// goes on with short regions (`given_back`) or with one whose processes compute for a minute (`given_back_long`), from
// the beginning of one's region, before which one has been idle and has lent everything; and all of them, when the
// other process is killed (`killed`).
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include <omp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node/segment.h"

extern "C" {
#include "common/measure.h"
}

namespace {

using namespace weft;

constexpr int kShortUnits = 5000;  // half a millisecond
constexpr int kLongUnits = 600'000'000;
// A slot that has not come by then will not come.
constexpr double kMostSeconds = 5;

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "node_reclaim: %s\n", what);
  std::exit(1);
}

// What the processes hold, by the words that they share.
class View {
 public:
  View() {
    node::Reason reason;
    segment_.reset(node::Segment::open(node::default_path().text, node::Segment::Missing::leave, reason));
    if (segment_ == nullptr) fail("no segment: WEFT_NODE=1 is needed");
  }

  int held(pid_t pid) const {
    const node::Layout& layout = segment_->layout();
    const auto find = [pid](const node::Record& record) { return record.serial != 0 && record.pid == pid; };
    const auto found = std::find_if(layout.records.begin(), layout.records.end(), find);
    if (found == layout.records.end()) return 0;
    const node::Owner owner = node::owner_of(found->serial, static_cast<int>(found - layout.records.begin()));
    const auto* const end = layout.slots.begin() + layout.header.top_cpu;
    return static_cast<int>(std::count_if(layout.slots.begin(), end, [&](const auto& word) { return word == owner; }));
  }

 private:
  std::unique_ptr<node::Segment> segment_;
};

void region(int units) {
#pragma omp parallel
  work(units);
}

// A process that wants all CPUs, for ever.
pid_t start_other(int units) {
  const pid_t other = fork();
  if (other != 0) return other;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (;;) region(units);
}

void end(pid_t other) {
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
}

class Times {
 public:
  explicit Times(int samples) : samples_(samples) {}

  std::vector<double> given_back(int units) const {
    std::vector<double> milliseconds;
    const pid_t other = start_other(units);
    for (int i = 0; i < samples_; ++i) {
      await_all_lent(other);
      const double begin = now();
      const double end = inside([&] { return until_held(share_); });
      milliseconds.push_back((end - begin) * 1e3);
    }
    end(other);
    return milliseconds;
  }

  std::vector<double> killed() const {
    std::vector<double> milliseconds;
    for (int i = 0; i < samples_; ++i) {
      const pid_t other = start_other(kLongUnits);
      await_all_lent(other);
      double begin = 0;
      const double end = inside([&] {
        until_held(share_);
        begin = now();
        kill(other, SIGKILL);
        return until_held(cpus_);
      });
      milliseconds.push_back((end - begin) * 1e3);
      waitpid(other, nullptr, 0);
    }
    return milliseconds;
  }

 private:
  void await_all_lent(pid_t other) const {
    const double begin = now();
    while (view_.held(other) < cpus_) {
      if (now() - begin > kMostSeconds) fail("the other process does not get all CPUs");
      usleep(500);
    }
  }

  double until_held(int slots) const {
    const double begin = now();
    while (view_.held(getpid()) < slots) {
      if (now() - begin > kMostSeconds) fail("the slots do not come");
      work(1);
    }
    return now();
  }

  // What the first process of a region finds, while the others compute.
  template <class Body>
  static double inside(Body&& body) {
    double found = 0;
    std::atomic<bool> over{false};
#pragma omp parallel
    if (omp_get_thread_num() == 0) {
      found = body();
      over.store(true, std::memory_order_relaxed);
    } else {
      while (!over.load(std::memory_order_relaxed)) work(1);
    }
    return found;
  }

  const int samples_;
  const int cpus_ = omp_get_num_procs();
  // The whole CPUs of it; half a CPU that is left over goes from one to the other.
  const int share_ = std::max(cpus_ / 2, 1);
  const View view_;
};

void report(const char* name, const std::vector<double>& samples) {
  report_samples(name, "ms", samples.data(), static_cast<int>(samples.size()));
}

}  // namespace

int main(int count, char** arguments) {
  const int samples = count > 1 ? std::atoi(arguments[1]) : 30;
  region(1);
  const Times times(samples);
  begin_report();
  report("given_back", times.given_back(kShortUnits));
  report("given_back_long", times.given_back(kLongUnits));
  report("killed", times.killed());
  end_report();
}
