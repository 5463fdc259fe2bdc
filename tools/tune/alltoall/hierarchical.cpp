// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "alltoall.h"

namespace weft::tune {

namespace {

constexpr int kUp = 43;
constexpr int kAcross = 44;
constexpr int kDown = 45;

using Ranks = std::vector<int>;

// What one group sends to another: by sender, then by receiver.
std::vector<char> parcel(const std::vector<std::vector<char>>& collected, const Ranks& receivers, size_t bytes) {
  std::vector<char> out;
  out.reserve(collected.size() * receivers.size() * bytes);
  for (const std::vector<char>& from : collected) {
    for (const int to : receivers) out.insert(out.end(), &from[to * bytes], &from[to * bytes] + bytes);
  }
  return out;
}

void lead(Exchange& exchange, const Groups& groups) {
  const size_t bytes = exchange.bytes;
  const int whole = exchange.bytes * exchange.ranks;
  const int own = groups.group_of[exchange.rank];
  const Ranks& members = groups.members[own];
  const size_t count = groups.members.size();
  std::vector<MPI_Request> requests;

  std::vector<std::vector<char>> collected(members.size(), std::vector<char>(whole));
  std::memcpy(collected[0].data(), exchange.outgoing(0), whole);
  for (size_t i = 1; i < members.size(); ++i) {
    MPI_Irecv(collected[i].data(), whole, MPI_BYTE, members[i], kUp, exchange.comm, &requests.emplace_back());
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  requests.clear();

  std::vector<std::vector<char>> out(count);
  std::vector<std::vector<char>> in(count);
  for (size_t g = 0; g < count; ++g) {
    const Ranks& others = groups.members[g];
    out[g] = parcel(collected, others, bytes);
    if (static_cast<int>(g) == own) continue;
    in[g].resize(out[g].size());
    MPI_Irecv(in[g].data(), static_cast<int>(in[g].size()), MPI_BYTE, others[0], kAcross, exchange.comm,
              &requests.emplace_back());
    MPI_Isend(out[g].data(), static_cast<int>(out[g].size()), MPI_BYTE, others[0], kAcross, exchange.comm,
              &requests.emplace_back());
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  requests.clear();
  in[own] = out[own];

  std::vector<std::vector<char>> results(members.size(), std::vector<char>(whole));
  for (size_t g = 0; g < count; ++g) {
    const char* block = in[g].data();
    for (const int from : groups.members[g]) {
      for (size_t i = 0; i < members.size(); ++i, block += bytes) std::memcpy(&results[i][from * bytes], block, bytes);
    }
  }
  std::memcpy(exchange.incoming(0), results[0].data(), whole);
  for (size_t i = 1; i < members.size(); ++i) {
    MPI_Isend(results[i].data(), whole, MPI_BYTE, members[i], kDown, exchange.comm, &requests.emplace_back());
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

}  // namespace

void hierarchical(Exchange& exchange, const Groups& groups) {
  exchange.pack();
  if (exchange.bytes == 0) return;
  const int leader = groups.members[groups.group_of[exchange.rank]][0];
  if (leader == exchange.rank) {
    lead(exchange, groups);
  } else {
    const int whole = exchange.bytes * exchange.ranks;
    MPI_Send(exchange.outgoing(0), whole, MPI_BYTE, leader, kUp, exchange.comm);
    MPI_Recv(exchange.incoming(0), whole, MPI_BYTE, leader, kDown, exchange.comm, MPI_STATUS_IGNORE);
  }
  exchange.finish();
}

}  // namespace weft::tune
