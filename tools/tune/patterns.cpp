// SPDX-License-Identifier: Apache-2.0
// As operations are measured: the ranks begin together, each has written its data just before, and the time is that of
// the rank that took longest. One pair alone with data in its caches is faster by a factor.
#include "patterns.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <mpi.h>

#include "timing.h"

namespace weft::tune {

namespace {

constexpr int kTag = 47;
constexpr size_t kSizes[] = {8, 512, 2048, 8192, 32768, 131072, 524288, 2097152};
// What else runs on a machine disturbs it for milliseconds, so the calls of a point are spread over passes.
constexpr int kBatch = 4;  // calls of each point in a pass
constexpr int kMostPasses = 24;
constexpr double kNanoseconds = 2e9;
constexpr int kMostRounds = 3;
constexpr int kMostPartners = 8;
constexpr int kLeastSent = 4;
constexpr size_t kMostMemory = 8 << 20;  // of one rank's messages in one call

struct Job {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int ranks = 1;
};

struct Call {
  size_t bytes = 0;
  int number = 0;
  char* send = nullptr;
  char* receive = nullptr;

  int count() const { return static_cast<int>(bytes); }
};

int most(size_t bytes, int wanted) { return std::max(1, std::min(wanted, static_cast<int>(kMostMemory / bytes))); }

// Each returns the time of one message in nanoseconds, 0 on ranks whose time is none.
using Pattern = double (*)(const Job& job, const Call& call);

// A message and its answer between two ranks, while the others wait inside of MPI.
double ping(const Job& job, const Call& call) {
  const int first = call.number % job.ranks;
  const int second = (first + 1 + call.number / job.ranks % (job.ranks - 1)) % job.ranks;
  const double start = now();
  if (job.rank == first) {
    MPI_Send(call.send, call.count(), MPI_BYTE, second, kTag, job.comm);
    MPI_Recv(call.receive, call.count(), MPI_BYTE, second, kTag, job.comm, MPI_STATUS_IGNORE);
    const double time = (now() - start) / 2;
    for (int other = 0; other < job.ranks; ++other) {
      if (other != first && other != second) MPI_Send(nullptr, 0, MPI_BYTE, other, kTag, job.comm);
    }
    return time;
  }
  if (job.rank == second) {
    MPI_Recv(call.receive, call.count(), MPI_BYTE, first, kTag, job.comm, MPI_STATUS_IGNORE);
    MPI_Send(call.send, call.count(), MPI_BYTE, first, kTag, job.comm);
    return 0;
  }
  MPI_Recv(nullptr, 0, MPI_BYTE, first, kTag, job.comm, MPI_STATUS_IGNORE);
  return 0;
}

// All ranks exchange at once, with one partner after the other.
double round(const Job& job, const Call& call) {
  const int rounds = most(call.bytes, std::min(kMostRounds, job.ranks - 1));
  const double start = now();
  for (int i = 1; i <= rounds; ++i) {
    const size_t at = static_cast<size_t>(i - 1) * call.bytes;
    MPI_Sendrecv(call.send + at, call.count(), MPI_BYTE, (job.rank + i) % job.ranks, kTag, call.receive + at,
                 call.count(), MPI_BYTE, (job.rank + job.ranks - i) % job.ranks, kTag, job.comm, MPI_STATUS_IGNORE);
  }
  return (now() - start) / rounds;
}

// All ranks exchange with all partners at once.
double flood(const Job& job, const Call& call) {
  const int partners = most(call.bytes, std::min(kMostPartners, job.ranks - 1));
  MPI_Request requests[2 * kMostPartners];
  const double start = now();
  for (int i = 1; i <= partners; ++i) {
    MPI_Irecv(call.receive + static_cast<size_t>(i - 1) * call.bytes, call.count(), MPI_BYTE,
              (job.rank + job.ranks - i) % job.ranks, kTag, job.comm, &requests[i - 1]);
  }
  for (int i = 1; i <= partners; ++i) {
    MPI_Isend(call.send + static_cast<size_t>(i - 1) * call.bytes, call.count(), MPI_BYTE, (job.rank + i) % job.ranks,
              kTag, job.comm, &requests[partners + i - 1]);
  }
  MPI_Waitall(2 * partners, requests, MPI_STATUSES_IGNORE);
  return (now() - start) / partners;
}

// One rank sends to all others: several to each if they are few. The whole time, since the first message takes longer
// than the others; `sent_by_one` says how many there are.
int sent_by_one(int ranks) { return std::max(kLeastSent, ranks - 1); }

double fan(const Job& job, const Call& call) {
  const int root = call.number % job.ranks;
  const int sent = sent_by_one(job.ranks);
  const double start = now();
  if (job.rank == root) {
    std::vector<MPI_Request> requests(sent);
    for (int i = 0; i < sent; ++i) {
      MPI_Isend(call.send, call.count(), MPI_BYTE, (root + 1 + i % (job.ranks - 1)) % job.ranks, kTag, job.comm,
                &requests[i]);
    }
    MPI_Waitall(sent, requests.data(), MPI_STATUSES_IGNORE);
  } else {
    const int place = (job.rank + job.ranks - root - 1) % job.ranks;
    for (int i = place; i < sent; i += job.ranks - 1) {
      MPI_Recv(call.receive, call.count(), MPI_BYTE, root, kTag, job.comm, MPI_STATUS_IGNORE);
    }
  }
  return now() - start;
}

// What each rank does for itself: a copy, and the sum of two vectors.
double copy(const Job& /*job*/, const Call& call) {
  const double start = now();
  std::memcpy(call.receive, call.send, call.bytes);
  return now() - start;
}

double add(const Job& /*job*/, const Call& call) {
  const double start = now();
  MPI_Reduce_local(call.send, call.receive, static_cast<int>(call.bytes / sizeof(int)), MPI_INT, MPI_SUM);
  return now() - start;
}

struct Named {
  const char* name;
  Pattern run;
};
constexpr Named kPatterns[] = {{"ping", ping}, {"round", round}, {"flood", flood},
                               {"fan", fan},   {"copy", copy},   {"add", add}};

// What else runs on a machine makes calls longer, never shorter, and often more than half of these few.
double lower_quartile(std::vector<double>& values) {
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 4);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

class Bench {
 public:
  Bench(NodeBarrier& barrier, const Job& job) : barrier_(barrier), job_(job) {}

  void measure() {
    const double start = now();
    // The first pass does not count if there is another one: connections are made in it.
    for (int pass = 0; pass < kMostPasses; ++pass) {
      for (size_t i = 0; i < std::size(kPatterns); ++i) {
        for (size_t j = 0; j < std::size(kSizes); ++j) {
          if (pass == 1) times_[i][j].clear();
          add_calls(kPatterns[i].run, kSizes[j], times_[i][j]);
        }
      }
      int late = now() - start > kNanoseconds ? 1 : 0;
      MPI_Bcast(&late, 1, MPI_INT, 0, job_.comm);
      if (late != 0) break;
    }
  }

  // Nanoseconds.
  double time_of(size_t pattern, size_t size) { return lower_quartile(times_[pattern][size]); }

 private:
  void add_calls(Pattern pattern, size_t bytes, std::vector<double>& into) {
    // No longer than they must be: long ones may lie in huge pages, in which single copy takes half the time.
    std::vector<char> send(bytes * most(bytes, std::min(kMostPartners, job_.ranks - 1)), 1);
    std::vector<char> receive(send);
    double times[kBatch];
    for (double& time : times) {
      std::memset(send.data(), ++number_ % 100, send.size());
      barrier_.wait();
      time = pattern(job_, {bytes, number_, send.data(), receive.data()});
    }
    double longest[kBatch];
    MPI_Allreduce(times, longest, kBatch, MPI_DOUBLE, MPI_MAX, job_.comm);
    into.insert(into.end(), std::begin(longest), std::end(longest));
  }

  NodeBarrier& barrier_;
  const Job& job_;
  int number_ = 0;
  std::vector<double> times_[std::size(kPatterns)][std::size(kSizes)];
};

}  // namespace

void measure_patterns(NodeBarrier& barrier, std::FILE* out) {
  Job job;
  MPI_Comm_dup(MPI_COMM_WORLD, &job.comm);
  MPI_Comm_rank(job.comm, &job.rank);
  MPI_Comm_size(job.comm, &job.ranks);
  Bench bench(barrier, job);
  bench.measure();
  for (size_t i = 0; out != nullptr && i < std::size(kPatterns); ++i) {
    std::fprintf(out, R"({"pattern":"%s","sent":%d,"points":[)", kPatterns[i].name, sent_by_one(job.ranks));
    const char* comma = "";
    for (size_t j = 0; j < std::size(kSizes); ++j) {
      std::fprintf(out, "%s[%zu,%.1f]", comma, kSizes[j], bench.time_of(i, j));
      comma = ",";
    }
    std::fprintf(out, "]}\n");
  }
  MPI_Comm_free(&job.comm);
}

}  // namespace weft::tune
