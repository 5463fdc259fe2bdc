// SPDX-License-Identifier: Apache-2.0
// The requests of all tickets in one array, as MPI_Testsome takes them: its cost hardly depends on how many they are.
#pragma once

#include "mpi/library/tickets/tickets.h"

namespace weft::mpi {

// Used by one thread at a time. There is one, which lives as long as the process.
class Pending {
 public:
  // False: no memory, nothing has been added.
  bool add(Ticket& ticket) noexcept;

  // Looks at every request once. Tickets whose last request has completed are put before `ended`.
  void sweep(Ticket*& ended) noexcept;

  // Each ticket that has requests left, once. Those of a ticket lie together.
  template <class Visit>
  void each(Visit&& visit) const noexcept {
    const Ticket* last = nullptr;
    for (int i = 0; i < count_; ++i) {
      const Ticket* ticket = owners_[i].ticket;
      if (ticket == nullptr || ticket == last) continue;
      visit(*ticket);
      last = ticket;
    }
  }

 private:
  struct Owner {
    Ticket* ticket;  // null: the request has completed
    int place;       // of the request in the ticket
    MPI_Request request;  // as it was before it completed
  };

  bool reserve(int more) noexcept;
  void sweep_batch(int first, int count, Ticket*& ended) noexcept;
  void test_each(int first, int count, Ticket*& ended) noexcept;
  void complete(int index, const MPI_Status& status, int code, Ticket*& ended) noexcept;
  void close_gaps() noexcept;

  // Beyond some thousand a call costs as much per request as a smaller one.
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
