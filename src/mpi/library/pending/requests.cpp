// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/pending/requests.h"

#include <algorithm>
#include <cstdlib>

#include "mpi/library/errors/errors.h"
#include "mpi/library/pending/claims.h"

namespace weft::mpi {

namespace {

// So few requests are tested one by one, which costs no more than MPI_Testsome. MPICH needs more of that: it is fast
// anyway, and its errors are kept quiet only where several requests are tested at once.
#ifdef OPEN_MPI
constexpr int kOneByOne = 1;
#else
constexpr int kOneByOne = 4;
#endif

}  // namespace

bool PendingRequests::reserve(int more) noexcept {
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

bool PendingRequests::add(PendingWait& pending) noexcept {
  if (!reserve(pending.count)) return false;
  pending.left = pending.count;
  for (int i = 0; i < pending.count; ++i) {
    const int place = pending.wanted != nullptr ? pending.wanted[i] : i;
    requests_[count_] = pending.requests[place];
    owners_[count_] = {&pending, place, pending.requests[place]};
    ++count_;
  }
  return true;
}

void PendingRequests::complete(int index, const MPI_Status& status, int code, PendingWait*& ended) noexcept {
  const auto [pending, place, request] = owners_[index];
  if (pending->claimed) disclaim(request);
  // MPI has made the handle MPI_REQUEST_NULL; or has left it, inactive, if it is that of a persistent request.
  pending->requests[place] = requests_[index];
  if (pending->statuses != MPI_STATUSES_IGNORE) {
    pending->statuses[place] = status;
    pending->statuses[place].MPI_ERROR = code;
  }
  if (code != MPI_SUCCESS) pending->code = code;
  owners_[index].pending = nullptr;
  gaps_ = true;
  if (--pending->left > 0) return;
  pending->next = ended;
  ended = pending;
}

void PendingRequests::test_each(int first, int count, PendingWait*& ended) noexcept {
  for (int i = first; i < first + count; ++i) {
    if (owners_[i].pending == nullptr) continue;
    int done = 0;
    MPI_Status status;
    // A wait with `wanted` is a call for several requests, though one of them may be left.
    const bool alone = owners_[i].pending->wanted == nullptr;
    const Completing completing(alone ? Completing::Requests::one : Completing::Requests::several);
    const int code = completing.code(PMPI_Test(&requests_[i], &done, &status));
    if (done != 0 || code != MPI_SUCCESS) complete(i, status, code, ended);
  }
}

void PendingRequests::sweep_batch(int first, int count, PendingWait*& ended) noexcept {
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
    // MPI refuses the whole call: one of the handles is no request any more, and MPI does not say which. Tested one by
    // one, only the wait that has this handle gets the error.
    test_each(first, count, ended);
    return;
  }
  if (completed == MPI_UNDEFINED) return;
  for (int i = 0; i < completed; ++i) {
    const int failure = code == MPI_ERR_IN_STATUS ? statuses_[i].MPI_ERROR : MPI_SUCCESS;
    complete(first + places_[i], statuses_[i], failure, ended);
  }
}

void PendingRequests::close_gaps() noexcept {
  int kept = 0;
  for (int i = 0; i < count_; ++i) {
    if (owners_[i].pending == nullptr) continue;
    requests_[kept] = requests_[i];
    owners_[kept++] = owners_[i];
  }
  count_ = kept;
  gaps_ = false;
}

void PendingRequests::sweep(PendingWait*& ended) noexcept {
  for (int first = 0; first < count_; first += kBatch) sweep_batch(first, std::min(kBatch, count_ - first), ended);
  if (gaps_) close_gaps();
}

}  // namespace weft::mpi
