// SPDX-License-Identifier: Apache-2.0
// All ranks of MPI_COMM_WORLD meet when MPI has started: they agree on a number, and those that wait in vain say for
// whom. A collective of MPI would say nothing of who is missing. Built by each library with the headers of its MPI.
//
// The ranks are a binary tree. A rank greets its neighbours at once, so that each of them knows who is there. Then the
// greatest number goes up, and the result down. Messages between two ranks keep their order, so one tag serves, and a
// rank that leaves has received all that was sent to it.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdio>

#include <time.h>

#include "base/message.h"
#include "mpi/front/rank_process.h"
#include "platform/cycles.h"

namespace weft::mpi {

// What the ranks of one build say to each other.
inline constexpr int kMeetingProtocol = 0x77650001;

struct MeetingTexts {
  const char* part;  // of weft, before a message
  const char* file;  // the library that all ranks have
  const char* name;  // what users call it
  const char* option;  // of weft run
  int tag;
};

// `Mpi` has MPI's functions by the names behind PMPI_.
template <class Mpi>
class Meeting {
 public:
  Meeting(const Mpi& mpi, const MeetingTexts& texts) noexcept : mpi_(mpi), texts_(texts) {}

  // The greatest of all ranks' numbers; `mine`, where MPI reports an error.
  int meet(int mine) noexcept {
    int size = 0;
    if (mpi_.Comm_rank(MPI_COMM_WORLD, &rank_) != MPI_SUCCESS || mpi_.Comm_size(MPI_COMM_WORLD, &size) != MPI_SUCCESS) {
      return mine;
    }
    if (rank_ > 0) add((rank_ - 1) / 2);
    for (int child = 2 * rank_ + 1; child <= 2 * rank_ + 2 && child < size; ++child) add(child);
    most_ = mine;
    for (int i = 0; i < count_; ++i) send(neighbours_[i], 0, mine);
    const int64_t began = platform::now_ns();
    int64_t next_look = began + kFirstLookNs;
    bool sent_up = rank_ == 0;
    while (!failed_) {
      const bool all_up = hear_children();
      if (all_up && !sent_up) {
        sent_up = true;
        send(neighbours_[0], 1, most_);
      }
      if (all_up && (rank_ == 0 || heard(neighbours_[0], 1))) break;
      const int64_t now = platform::now_ns();
      if (now - began > kSpinNs) nap();
      if (now < next_look) continue;
      next_look = now + kLookNs;
      look_for_missing(now - began);
    }
    if (failed_) return mine;
    const int result = rank_ == 0 ? most_ : neighbours_[0].received[1][1];
    for (int i = rank_ > 0 ? 1 : 0; i < count_; ++i) send(neighbours_[i], 1, result);
    for (int i = 0; i < count_; ++i) {
      for (MPI_Request& request : neighbours_[i].sends) finish(request);
    }
    return result;
  }

 private:
  static constexpr int64_t kSecond = 1'000'000'000;
  static constexpr int64_t kSpinNs = 2'000'000;
  static constexpr int64_t kFirstLookNs = kSecond;
  static constexpr int64_t kLookNs = kSecond / 2;
  // The patience with a rank of another host: it cannot be seen whether that one has the library.
  static constexpr int64_t kPatienceElsewhereNs = 4 * kSecond;
  // The patience with a rank that has the library, and may be slow.
  static constexpr int64_t kPatienceNs = 10 * kSecond;

  struct Neighbour {
    int rank = 0;
    // The greeting, and what comes up from a child or down from the parent: the protocol, and a number.
    int received[2][2] = {};
    MPI_Request receives[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int sent[2][2] = {};
    MPI_Request sends[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    bool heard[2] = {};
    bool said = false;
    int looked_without = 0;
  };

  void add(int rank) noexcept {
    Neighbour& neighbour = neighbours_[count_++];
    neighbour.rank = rank;
    for (int i = 0; i < 2; ++i) {
      check(mpi_.Irecv(neighbour.received[i], 2, MPI_INT, rank, texts_.tag, MPI_COMM_WORLD, &neighbour.receives[i]));
    }
  }

  void send(Neighbour& neighbour, int which, int number) noexcept {
    neighbour.sent[which][0] = kMeetingProtocol;
    neighbour.sent[which][1] = number;
    check(mpi_.Isend(neighbour.sent[which], 2, MPI_INT, neighbour.rank, texts_.tag, MPI_COMM_WORLD,
                     &neighbour.sends[which]));
  }

  bool heard(Neighbour& neighbour, int which) noexcept {
    if (neighbour.heard[which]) return true;
    int done = 0;
    check(mpi_.Test(&neighbour.receives[which], &done, MPI_STATUS_IGNORE));
    neighbour.heard[which] = done != 0;
    if (done != 0 && neighbour.received[which][0] != kMeetingProtocol) {
      base::warn("%s: rank %d has another version of weft than rank %d: run all ranks with the same; the job ends",
                 texts_.part, neighbour.rank, rank_);
      end_job();
    }
    return done != 0;
  }

  // Whether all of them have said what they and those below them want.
  bool hear_children() noexcept {
    bool all = true;
    for (int i = 0; i < count_; ++i) {
      Neighbour& neighbour = neighbours_[i];
      heard(neighbour, 0);
      if (rank_ > 0 && i == 0) continue;
      if (!heard(neighbour, 1)) {
        all = false;
      } else {
        most_ = std::max(most_, neighbour.received[1][1]);
      }
    }
    return all;
  }

  void look_for_missing(int64_t waited) noexcept {
    for (int i = 0; i < count_; ++i) {
      if (!neighbours_[i].heard[0]) look_for(neighbours_[i], waited);
    }
  }

  void look_for(Neighbour& neighbour, int64_t waited) noexcept {
    const RankProcess process = find_rank_process(rank_, neighbour.rank, texts_.file);
    const bool without = process.has_mpi && !process.has_library;
    // It has to be seen so twice: the process may just be starting another program (exec).
    neighbour.looked_without = without ? neighbour.looked_without + 1 : 0;
    if (neighbour.looked_without == 2) {
      base::warn(
          "%s: rank %d (process %d) runs without %s, and other ranks wait for it: run all ranks with %s, or none; "
          "the job ends",
          texts_.part, neighbour.rank, process.pid, texts_.name, texts_.option);
      end_job();
    }
    if (neighbour.said || without) return;
    if (process.has_library ? waited > kPatienceNs : waited > kPatienceElsewhereNs) {
      neighbour.said = true;
      base::warn(
          "%s: rank %d does not answer rank %d in MPI_Init: it is slow, or runs without %s or with another version "
          "of it; all ranks run with %s, or none",
          texts_.part, neighbour.rank, rank_, texts_.name, texts_.option);
    }
  }

  // MPICH's launcher loses what ranks have just written when one of them ends the job.
  void end_job() noexcept {
    const timespec time{0, 300'000'000};
    nanosleep(&time, nullptr);
    mpi_.Abort(MPI_COMM_WORLD, 1);
  }

  void finish(MPI_Request& request) noexcept {
    for (int done = 0; done == 0 && !failed_;) check(mpi_.Test(&request, &done, MPI_STATUS_IGNORE));
  }

  void check(int code) noexcept { failed_ = failed_ || code != MPI_SUCCESS; }

  // Sleeps a moment: other ranks may need the CPU to come to the meeting at all.
  static void nap() noexcept {
    const timespec time{0, 50'000};
    nanosleep(&time, nullptr);
  }

  const Mpi& mpi_;
  const MeetingTexts& texts_;
  int rank_ = 0;
  int most_ = 0;
  Neighbour neighbours_[3];
  int count_ = 0;
  bool failed_ = false;
};

}  // namespace weft::mpi
