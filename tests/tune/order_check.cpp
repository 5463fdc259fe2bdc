// SPDX-License-Identifier: Apache-2.0
// Calls that rules could make wrong: MPI_Allreduce and MPI_Reduce with an operator that is associative and does not
// commute, products of matrices; and MPI_Allgather in place.
#include <array>
#include <cstdio>
#include <vector>

#include <mpi.h>

namespace {

constexpr int kPrime = 1009;

using Matrix = std::array<int, 4>;

Matrix product(const Matrix& a, const Matrix& b) {
  return {(a[0] * b[0] + a[1] * b[2]) % kPrime, (a[0] * b[1] + a[1] * b[3]) % kPrime,
          (a[2] * b[0] + a[3] * b[2]) % kPrime, (a[2] * b[1] + a[3] * b[3]) % kPrime};
}

void multiply(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  const auto* left = static_cast<const Matrix*>(in);
  auto* right = static_cast<Matrix*>(inout);
  for (int i = 0; i < *count; ++i) right[i] = product(left[i], right[i]);
}

Matrix factor(int rank, int i) { return {rank + 2, 1 + i % 3 + rank * rank, 3, 5}; }

Matrix right_result(int ranks, int i) {
  Matrix all = factor(0, i);
  for (int rank = 1; rank < ranks; ++rank) all = product(all, factor(rank, i));
  return all;
}

}  // namespace

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(4, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(multiply, 0, &op);
  int wrong = 0;
  for (const int elements : {1, 5, 3000}) {
    std::vector<Matrix> own;
    std::vector<Matrix> wanted;
    for (int i = 0; i < elements; ++i) own.push_back(factor(rank, i));
    for (int i = 0; i < elements; ++i) wanted.push_back(right_result(ranks, i));
    std::vector<Matrix> found(elements);
    MPI_Allreduce(own.data(), found.data(), elements, type, op, MPI_COMM_WORLD);
    wrong += found == wanted ? 0 : 1;
    for (int root = 0; root < ranks; ++root) {
      found.assign(elements, {});
      MPI_Reduce(own.data(), found.data(), elements, type, op, root, MPI_COMM_WORLD);
      wrong += rank != root || found == wanted ? 0 : 1;
    }
  }
  std::vector<int> blocks(ranks, -1);
  blocks[rank] = rank;
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, blocks.data(), 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i) wrong += blocks[i] == i ? 0 : 1;
  if (wrong > 0) std::fprintf(stderr, "rank %d: %d results are wrong\n", rank, wrong);
  int all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
