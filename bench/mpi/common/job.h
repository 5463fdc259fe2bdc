// SPDX-License-Identifier: Apache-2.0
// What the MPI programs share: how they start, and what is agreed between ranks at the end.
#pragma once

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

// Begins MPI; exits with a message where it gives less than this level of threads.
void start_job(int* argument_count, char*** arguments, int level);

// Ends the job with status 2 where there is a reason, which all ranks have, and rank 0 says.
void refuse_job(const char* reason);

int rank_in(MPI_Comm comm);
int ranks_in(MPI_Comm comm);

// Item `index` of `count`, as evenly as can be, that `part` of `parts` begins with; that of part `parts` is `count`.
long first_of_part(long count, int part, int parts);

// Of all ranks, at rank 0.
uint64_t sum_over_ranks(MPI_Comm comm, uint64_t value);

// Seconds that run(argument) takes, from when all ranks begin until the last has ended; at every rank.
double seconds_of(MPI_Comm comm, void (*run)(void* argument), void* argument);

// begin_report(), with the MPI library, the ranks and the threads of a team, and whether TAMPI_Iwait is there.
void begin_job_report(void);
// The hash as text, because JSON's numbers do not hold it, and whether it is that of the reference, if there is one.
void report_hash(uint64_t hash, const uint64_t* reference);

void* allocated(size_t count, size_t size);
