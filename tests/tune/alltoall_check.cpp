// SPDX-License-Identifier: Apache-2.0
// Every all-to-all exchange of tools/tune/alltoall against what must come out, for the ranks that it runs with.
#include <cstdio>
#include <string>
#include <vector>

#include "alltoall/alltoall.h"

namespace {

using weft::tune::Alltoall;

int g_rank = 0;
int g_ranks = 1;
int g_faults = 0;

int value(int from, int to, int i) { return from * 10000 + to * 100 + i % 100; }

void expect(bool right, const std::string& name, const char* what, int count) {
  if (right) return;
  ++g_faults;
  std::fprintf(stderr, "%s, %s, %d ranks, %d elements: wrong on rank %d\n", name.c_str(), what, g_ranks, count, g_rank);
}

std::vector<int> sent(int count) {
  std::vector<int> data;
  for (int to = 0; to < g_ranks; ++to) {
    for (int i = 0; i < count; ++i) data.push_back(value(g_rank, to, i));
  }
  return data;
}

std::vector<int> wanted(int count) {
  std::vector<int> data;
  for (int from = 0; from < g_ranks; ++from) {
    for (int i = 0; i < count; ++i) data.push_back(value(from, g_rank, i));
  }
  return data;
}

void plain(const Alltoall& alltoall, const std::string& name, int count) {
  const std::vector<int> out = sent(count);
  std::vector<int> in(out.size() + 1, -1);
  alltoall.run(out.data(), count, MPI_INT, in.data(), count, MPI_INT, MPI_COMM_WORLD);
  std::vector<int> right = wanted(count);
  right.push_back(-1);
  expect(in == right, name, "plain", count);
}

void in_place(const Alltoall& alltoall, const std::string& name, int count) {
  std::vector<int> data = sent(count);
  alltoall.run(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data.data(), count, MPI_INT, MPI_COMM_WORLD);
  expect(data == wanted(count), name, "in place", count);
}

// Every other int is sent, as a type of its own, and received as plain bytes.
void derived(const Alltoall& alltoall, const std::string& name, int count) {
  MPI_Datatype spread = MPI_DATATYPE_NULL;
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &pair);
  MPI_Type_contiguous(1, pair, &spread);
  MPI_Type_commit(&spread);
  const std::vector<int> out = sent(count);
  std::vector<int> gaps(out.size() * 2, -7);
  for (size_t i = 0; i < out.size(); ++i) gaps[2 * i] = out[i];
  std::vector<int> in(out.size(), -1);
  const int bytes = count * static_cast<int>(sizeof(int));
  alltoall.run(gaps.data(), count, spread, in.data(), bytes, MPI_BYTE, MPI_COMM_WORLD);
  expect(in == wanted(count), name, "derived type sent", count);
  std::vector<int> received(out.size() * 2, -7);
  alltoall.run(out.data(), count, MPI_INT, received.data(), count, spread, MPI_COMM_WORLD);
  bool right = true;
  const std::vector<int> all = wanted(count);
  for (size_t i = 0; i < all.size(); ++i) right = right && received[2 * i] == all[i] && received[2 * i + 1] == -7;
  expect(right, name, "derived type received", count);
  MPI_Type_free(&spread);
  MPI_Type_free(&pair);
}

}  // namespace

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &g_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &g_ranks);
  for (const char* name :
       {"linear", "pairwise", "scattered:1", "scattered:2", "scattered:3", "scattered:99", "bruck:2", "bruck:3",
        "bruck:4", "bruck:9", "hierarchical", "hierarchical:1", "hierarchical:2", "hierarchical:3"}) {
    Alltoall alltoall;
    if (!alltoall.choose(name, MPI_COMM_WORLD)) {
      expect(false, name, "unknown", 0);
      continue;
    }
    for (const int elements : {0, 1, 3, 1000, 20000}) {
      plain(alltoall, name, elements);
      in_place(alltoall, name, elements);
      derived(alltoall, name, elements);
    }
  }
  for (const char* name : {"", "nonsense", "bruck", "bruck:1", "scattered:0", "linear:2", "hierarchical:0"}) {
    Alltoall alltoall;
    expect(!alltoall.choose(name, MPI_COMM_WORLD), name, "taken", 0);
  }
  int all = 0;
  MPI_Allreduce(&g_faults, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
