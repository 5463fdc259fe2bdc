// SPDX-License-Identifier: Apache-2.0
#include "measure.h"

#include <algorithm>

#include "timing.h"

namespace weft::tune {

namespace {

constexpr char kOwn[] = "own:";
// Of the calls that nobody counts: an MPI sets up connections and memory in them.
constexpr int kWarmUps = 2;

bool is_own(const Entry& entry) { return entry.way.rfind(kOwn, 0) == 0; }

}  // namespace

Meter::Meter(NodeBarrier& barrier, const Options& options)
    : barrier_(barrier), options_(options), number_(options.first_number) {
  MPI_Comm_dup(MPI_COMM_WORLD, &agree_);
}

int Meter::run(const Entry& entry, const Call& call, const Place& place, Buffers& buffers) const {
  if (!is_own(entry)) return entry.operation->run(call, place, buffers);
  const int bytes = static_cast<int>(call.bytes);
  return own_.run(buffers.send(), bytes, MPI_BYTE, buffers.receive(), bytes, MPI_BYTE, place.comm);
}

// False: it failed somewhere.
bool Meter::batch(const Entry& entry, const Place& place, Buffers& buffers, int calls, bool verify, Result& result) {
  std::vector<double> times(calls);
  std::vector<double> starts(calls);
  int fault = 0;
  Call call{.bytes = entry.bytes};
  // A rank that fails stays with the others, which would wait for it for ever.
  for (int i = 0; i < calls; ++i) {
    // Each rank is the root in turn, and data is new in each call, as in programs.
    if (!options_.paper || i == 0) call.number = ++number_;
    call.root = options_.paper ? 0 : static_cast<int>(call.number % place.ranks);
    if (!options_.paper || i == 0) entry.operation->fill(call, place, buffers);
    if (options_.paper) {
      MPI_Barrier(agree_);
    } else if (barrier_.wait(fault != 0)) {
      continue;
    }
    starts[i] = now();
    const bool done = run(entry, call, place, buffers) == MPI_SUCCESS;
    times[i] = now() - starts[i];
    if (!done) fault = 1;
    if (fault == 0 && verify && !entry.operation->right(call, place, buffers)) fault = 2;
  }
  int worst = 0;
  MPI_Allreduce(&fault, &worst, 1, MPI_INT, MPI_MAX, agree_);
  if (worst != 0) {
    result.fault = worst == 1 ? "MPI returned an error" : "wrong data";
    return false;
  }
  std::vector<double> longest(calls);
  MPI_Allreduce(times.data(), longest.data(), calls, MPI_DOUBLE, MPI_MAX, agree_);
  result.nanoseconds.insert(result.nanoseconds.end(), longest.begin(), longest.end());
  // Clocks of nodes differ.
  if (barrier_.nodes() == 1) {
    std::vector<double> first(calls);
    std::vector<double> last(calls);
    MPI_Allreduce(starts.data(), first.data(), calls, MPI_DOUBLE, MPI_MIN, agree_);
    MPI_Allreduce(starts.data(), last.data(), calls, MPI_DOUBLE, MPI_MAX, agree_);
    for (int i = 0; i < calls; ++i) last[i] -= first[i];
    result.skew = median(last);
  }
  return true;
}

Result Meter::measure(const Entry& entry) {
  Result result;
  result.fault = controls_.apply(entry.parsed);
  int bad = result.fault.empty() ? 0 : 1;
  MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, agree_);
  if (bad != 0) {
    if (result.fault.empty()) result.fault = "a variable could not be set on another rank";
    return result;
  }
  Place place{.comm = communicators_.get(entry.settings)};
  MPI_Comm_rank(place.comm, &place.rank);
  MPI_Comm_size(place.comm, &place.ranks);
  if (is_own(entry) && !own_.choose(entry.way.substr(sizeof kOwn - 1), place.comm)) {
    result.fault = "no such algorithm: " + entry.way;
    return result;
  }
  Buffers buffers(entry.operation->send_bytes(entry.bytes, place.ranks),
                  entry.operation->receive_bytes(entry.bytes, place.ranks));
  Result ignored;
  if (!batch(entry, place, buffers, kWarmUps, true, ignored)) {
    result.fault = ignored.fault;
    return result;
  }
  const double start = now();
  for (int left = entry.calls; left > 0;) {
    const int calls = std::min(left, kBatch);
    left -= calls;
    if (!batch(entry, place, buffers, calls, left == 0, result)) break;
    int late = now() - start > options_.entry_seconds * 1e9 ? 1 : 0;
    MPI_Bcast(&late, 1, MPI_INT, 0, agree_);
    if (late != 0 && !options_.paper) break;
  }
  return result;
}

}  // namespace weft::tune
