// SPDX-License-Identifier: Apache-2.0
// The requests of all pending waits in one array, as MPI_Testsome takes them: the cost of that call hardly depends on
// the number of requests.
#pragma once

#include "mpi/library/pending/pending_wait.h"

namespace weft::mpi {

// The process has one object, which one thread at a time uses.
class PendingRequests {
 public:
  // Returns false where there is no memory; then nothing has been added.
  bool add(PendingWait& pending) noexcept;

  // Tests every request once. A wait whose last request has completed is put at the head of the list `ended`.
  void sweep(PendingWait*& ended) noexcept;

  // Calls visit() once for each wait that has requests left. The requests of one wait lie side by side.
  template <class Visit>
  void each(Visit&& visit) const noexcept {
    const PendingWait* last = nullptr;
    for (int i = 0; i < count_; ++i) {
      const PendingWait* pending = owners_[i].pending;
      if (pending == nullptr || pending == last) continue;
      visit(*pending);
      last = pending;
    }
  }

 private:
  struct Owner {
    PendingWait* pending;  // that the request belongs to; null: the request has completed
    int place;             // of the request in PendingWait::requests
    MPI_Request request;   // its handle before it completed
  };

  bool reserve(int more) noexcept;
  void sweep_batch(int first, int count, PendingWait*& ended) noexcept;
  void test_each(int first, int count, PendingWait*& ended) noexcept;
  void complete(int index, const MPI_Status& status, int code, PendingWait*& ended) noexcept;
  void close_gaps() noexcept;

  // A call of MPI_Testsome with more than some thousand requests costs no less per request.
  static constexpr int kBatch = 1024;

  MPI_Request* requests_ = nullptr;
  Owner* owners_ = nullptr;
  int count_ = 0;
  int room_ = 0;
  bool gaps_ = false;
  int places_[kBatch];
  MPI_Status statuses_[kBatch];
};

}  // namespace weft::mpi
