// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/tickets/pending.h"

#include <algorithm>
#include <cstdlib>

#include "mpi/library/errors/errors.h"
#include "mpi/library/tickets/waited.h"

namespace weft::mpi {

namespace {

// So few are tested each by itself, which costs no more: MPICH is fast, and its errors are kept quiet only where
// several are tested at once.
#ifdef OPEN_MPI
constexpr int kOneByOne = 1;
#else
constexpr int kOneByOne = 4;
#endif

}  // namespace

bool Pending::reserve(int more) noexcept {
  if (count_ + more <= room_) return true;
  const int room = std::max(2 * room_, std::max(count_ + more, kBatch));
  auto* requests = static_cast<MPI_Request*>(std::realloc(requests_, sizeof *requests_ * static_cast<size_t>(room)));
  if (requests == nullptr) return false;
  requests_ = requests;
  auto* owners = static_cast<Owner*>(std::realloc(owners_, sizeof *owners_ * static_cast<size_t>(room)));
  if (owners == nullptr) return false;
  owners_ = owners;
  room_ = room;
  return true;
}

bool Pending::add(Ticket& ticket) noexcept {
  if (!reserve(ticket.count)) return false;
  ticket.left = ticket.count;
  for (int i = 0; i < ticket.count; ++i) {
    const int place = ticket.wanted != nullptr ? ticket.wanted[i] : i;
    requests_[count_] = ticket.requests[place];
    owners_[count_] = {&ticket, place, ticket.requests[place]};
    ++count_;
  }
  return true;
}

void Pending::complete(int index, const MPI_Status& status, int code, Ticket*& ended) noexcept {
  const auto [ticket, place, request] = owners_[index];
  if (ticket->claimed) disclaim(request);
  // MPI_REQUEST_NULL by now; or what it was, and inactive, if it is a persistent one.
  ticket->requests[place] = requests_[index];
  if (ticket->statuses != MPI_STATUSES_IGNORE) {
    ticket->statuses[place] = status;
    ticket->statuses[place].MPI_ERROR = code;
  }
  if (code != MPI_SUCCESS) ticket->code = code;
  owners_[index].ticket = nullptr;
  gaps_ = true;
  if (--ticket->left > 0) return;
  ticket->next = ended;
  ended = ticket;
}

void Pending::test_each(int first, int count, Ticket*& ended) noexcept {
  for (int i = first; i < first + count; ++i) {
    if (owners_[i].ticket == nullptr) continue;
    int done = 0;
    MPI_Status status;
    // One request may be what is left of several.
    const bool alone = owners_[i].ticket->wanted == nullptr;
    const Completing completing(alone ? Completing::Requests::one : Completing::Requests::several);
    const int code = completing.code(PMPI_Test(&requests_[i], &done, &status));
    if (done != 0 || code != MPI_SUCCESS) complete(i, status, code, ended);
  }
}

void Pending::sweep_batch(int first, int count, Ticket*& ended) noexcept {
  if (count <= kOneByOne) {
    test_each(first, count, ended);
    return;
  }
  int completed = 0;
  int code;
  {
    const Completing completing(Completing::Requests::several);
    code = completing.code(PMPI_Testsome(count, requests_ + first, &completed, places_, statuses_));
  }
  if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) {
    // One of them is no request any more. Which one, the others' owners must not suffer for.
    test_each(first, count, ended);
    return;
  }
  if (completed == MPI_UNDEFINED) return;
  for (int i = 0; i < completed; ++i) {
    const int failure = code == MPI_ERR_IN_STATUS ? statuses_[i].MPI_ERROR : MPI_SUCCESS;
    complete(first + places_[i], statuses_[i], failure, ended);
  }
}

void Pending::close_gaps() noexcept {
  int kept = 0;
  for (int i = 0; i < count_; ++i) {
    if (owners_[i].ticket == nullptr) continue;
    requests_[kept] = requests_[i];
    owners_[kept++] = owners_[i];
  }
  count_ = kept;
  gaps_ = false;
}

void Pending::sweep(Ticket*& ended) noexcept {
  for (int first = 0; first < count_; first += kBatch) sweep_batch(first, std::min(kBatch, count_ - first), ended);
  if (gaps_) close_gaps();
}

}  // namespace weft::mpi
