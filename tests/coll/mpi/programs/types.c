// SPDX-License-Identifier: Apache-2.0
// The same bytes, described in another way by each rank; types with gaps, in another order, and that begin elsewhere.
#include "check.h"

enum { kInts = 6000 };

// Types of `ints` ints each, and how many ints lie between the first and one behind the last.
static MPI_Datatype type_of(int kind, int ints) {
  MPI_Datatype type;
  MPI_Datatype between;
  switch (kind % 6) {
    case 0: MPI_Type_contiguous(ints, MPI_INT, &type); break;
    case 1: MPI_Type_vector(ints, 1, 2, MPI_INT, &type); break;
    case 2: {  // backwards
      int* places = malloc(sizeof(int) * ints);
      for (int i = 0; i < ints; ++i) places[i] = ints - 1 - i;
      MPI_Type_create_indexed_block(ints, 1, places, MPI_INT, &type);
      free(places);
      break;
    }
    case 3:
      MPI_Type_contiguous(ints, MPI_INT, &between);
      MPI_Type_create_resized(between, 0, (MPI_Aint)sizeof(int) * (ints + 3), &type);
      MPI_Type_free(&between);
      break;
    case 4: {  // contiguous, but behind the beginning of the buffer
      const int length = ints;
      const int place = 5;
      MPI_Type_indexed(1, &length, &place, MPI_INT, &type);
      break;
    }
    default: {  // from before the beginning of the buffer on
      const int lengths[] = {1, ints - 1};
      const MPI_Aint places[] = {-(MPI_Aint)sizeof(int), (MPI_Aint)sizeof(int)};
      MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &type);
      break;
    }
  }
  MPI_Type_commit(&type);
  return type;
}

// By MPI itself, without collectives.
static void to_ints(const void* data, int count, MPI_Datatype type, int* ints, int number) {
  MPI_Sendrecv(data, count, type, 0, 7, ints, number, MPI_INT, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}
static void from_ints(const int* ints, int number, void* data, int count, MPI_Datatype type) {
  MPI_Sendrecv(ints, number, MPI_INT, 0, 7, data, count, type, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

static int value(int rank, int round, int at) { return rank * 1000003 + round * 7919 + at; }

static int* values(int rank, int round, int number) {
  int* made = malloc(sizeof(int) * (number + 1));
  for (int i = 0; i < number; ++i) made[i] = value(rank, round, i);
  return made;
}

static void check(const int* found, int number, int rank, int round, int from, const char* where) {
  for (int i = 0; i < number; ++i) {
    CHECK(found[i] == value(rank, round, from + i), "%s: round %d, of rank %d, int %d is %d", where, round, rank, i,
          found[i]);
  }
}

static int* room(int number) { return (int*)calloc(number * 3 + 64, sizeof(int)) + 16; }
static void leave(int* data) { free(data - 16); }

int main(int count, char** arguments) {
  static const int kPerType[] = {1, 3, 50, 500};
  MPI_Init(&count, &arguments);
  check_begin();
  int* found = malloc(sizeof(int) * kInts * 16);
  for (int round = 0; round < 60; ++round) {
    const int ints = kPerType[round % 4] < 2 ? 2 : kPerType[round % 4];
    const int number = 2 + round % 3;
    const int total = ints * number;
    const int kind = check_rank + round;
    MPI_Datatype type = type_of(kind, ints);
    MPI_Datatype other = type_of(kind + 1, total);
    const int root = round % check_size;

    // bcast
    int* mine = values(root, round, total);
    int* data = room(total);
    if (check_rank == root) from_ints(mine, total, data, number, type);
    MPI_Bcast(data, number, type, root, MPI_COMM_WORLD);
    to_ints(data, number, type, found, total);
    check(found, total, root, round, 0, "bcast");
    leave(data);
    free(mine);

    // allgather: sent as one of `other`, received as several of `type`
    mine = values(check_rank, round, total);
    int* send = room(total);
    int* all = room(total * check_size);
    from_ints(mine, total, send, 1, other);
    MPI_Allgather(send, 1, other, all, number, type, MPI_COMM_WORLD);
    to_ints(all, number * check_size, type, found, total * check_size);
    for (int i = 0; i < check_size; ++i) check(found + i * total, total, i, round, 0, "allgather");
    // in place: the others' blocks are wrong before
    memset(all - 16, 0x55, sizeof(int) * (total * check_size * 3 + 64));
    MPI_Aint lower;
    MPI_Aint extent;
    MPI_Type_get_extent(type, &lower, &extent);
    from_ints(mine, total, (char*)all + extent * number * check_rank, number, type);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, number, type, MPI_COMM_WORLD);
    to_ints(all, number * check_size, type, found, total * check_size);
    for (int i = 0; i < check_size; ++i) check(found + i * total, total, i, round, 0, "allgather in place");
    leave(send);
    free(mine);

    // alltoall
    mine = values(check_rank, round, total * check_size);
    send = room(total * check_size);
    from_ints(mine, total * check_size, send, check_size, other);
    MPI_Alltoall(send, 1, other, all, number, type, MPI_COMM_WORLD);
    to_ints(all, number * check_size, type, found, total * check_size);
    for (int i = 0; i < check_size; ++i) check(found + i * total, total, i, round, check_rank * total, "alltoall");
    from_ints(mine, total * check_size, all, number * check_size, type);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, number, type, MPI_COMM_WORLD);
    to_ints(all, number * check_size, type, found, total * check_size);
    for (int i = 0; i < check_size; ++i) {
      check(found + i * total, total, i, round, check_rank * total, "alltoall in place");
    }
    leave(send);
    leave(all);
    free(mine);

    // Nothing, described in many ways: some ranks give no elements, some give elements of no bytes. In the own
    // bcast of Open MPI 4.1 and of MPICH 5.0 some ranks then wait for ever for others that have returned at once.
    if (count > 1) {
      MPI_Type_free(&type);
      MPI_Type_free(&other);
      continue;
    }
    MPI_Datatype empty;
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    int untouched = 5;
    MPI_Bcast(&untouched, check_rank % 2 ? 0 : 3, check_rank % 2 ? MPI_INT : empty, root, MPI_COMM_WORLD);
    MPI_Allgather(&untouched, check_rank % 2 ? 0 : 3, check_rank % 2 ? MPI_INT : empty, &untouched, 0, MPI_INT,
                  MPI_COMM_WORLD);
    CHECK(untouched == 5, "no bytes were asked for");
    MPI_Type_free(&empty);
    MPI_Type_free(&type);
    MPI_Type_free(&other);
  }
  free(found);
  return check_end();
}
