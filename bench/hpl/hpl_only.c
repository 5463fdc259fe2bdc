/* SPDX-License-Identifier: Apache-2.0 */
/* Runs High Performance Linpack alone: hpcc, in which it stands, runs seven other benchmarks before it. Reads
 * hpccinf.txt and writes hpccoutf.txt, as hpcc does, and says on stdout what was reached. scripts/build-hpl builds it. */
#include <hpcc.h>

#include <stdio.h>

int main(int argc, char **argv) {
  static HPCC_Params params;
  MPI_Init(&argc, &argv);
  HPCC_Init(&params);
  HPL_main(argc, argv, &params.HPLrdata, &params.Failure);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("%.3f Gflops, %s\n", params.HPLrdata.Gflops, params.Failure ? "WRONG" : "passed");
  MPI_Finalize();
  return params.Failure != 0;
}
