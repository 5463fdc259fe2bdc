// SPDX-License-Identifier: Apache-2.0
// Communicators that are made and freed: sub-groups, other orders of ranks, intercommunicators, MPI_COMM_SELF, a thousand
// of them without a leak, and collectives while MPI ends.
#include <dirent.h>

#include "check.h"

static int g_round;

// Each operation once, by the communicator's own ranks.
static void all_operations(MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  ++g_round;
  int value = rank == size - 1 ? 100 + g_round : -1;
  MPI_Bcast(&value, 1, MPI_INT, size - 1, comm);
  CHECK(value == 100 + g_round, "bcast: %d", value);
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK(sum == size * (size - 1) / 2, "allreduce: %d", sum);
  sum = 0;
  MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, comm);
  CHECK(rank != 0 || sum == size * (size - 1) / 2, "reduce: %d", sum);
  int all[64], send[64];
  MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, comm);
  for (int i = 0; i < size; ++i) CHECK(all[i] == i, "allgather: %d of %d", all[i], i);
  for (int i = 0; i < size; ++i) send[i] = rank * 100 + i;
  MPI_Alltoall(send, 1, MPI_INT, all, 1, MPI_INT, comm);
  for (int i = 0; i < size; ++i) CHECK(all[i] == i * 100 + rank, "alltoall: %d of %d", all[i], i);
  MPI_Barrier(comm);
}

static int descriptors(void) {
  int count = 0;
  DIR* folder = opendir("/proc/self/fd");
  while (readdir(folder) != NULL) ++count;
  closedir(folder);
  return count;
}

static int mappings(void) {
  int lines = 0;
  FILE* file = fopen("/proc/self/maps", "r");
  for (int c; (c = fgetc(file)) != EOF;) lines += c == '\n';
  fclose(file);
  return lines;
}

static long resident_kilobytes(void) {
  char line[256];
  long found = 0;
  FILE* file = fopen("/proc/self/status", "r");
  while (fgets(line, sizeof line, file) != NULL) sscanf(line, "VmRSS: %ld", &found);
  fclose(file);
  return found;
}

static void storm(int rounds) {
  int had_descriptors = 0, had_mappings = 0;
  long had_memory = 0;
  for (int i = 0; i < rounds; ++i) {
    MPI_Comm copy, part;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    all_operations(copy);
    MPI_Comm_split(copy, check_rank % 2, -check_rank, &part);
    all_operations(part);
    // While the part is in use.
    MPI_Comm_free(&copy);
    all_operations(part);
    MPI_Comm_free(&part);
    // What MPI itself takes once is there by then.
    if (i != rounds / 5) continue;
    had_descriptors = descriptors();
    had_mappings = mappings();
    had_memory = resident_kilobytes();
  }
  CHECK(descriptors() <= had_descriptors, "%d descriptors, before %d", descriptors(), had_descriptors);
  CHECK(mappings() <= had_mappings + 8, "%d mappings, before %d", mappings(), had_mappings);
  CHECK(resident_kilobytes() <= had_memory + 4096, "%ld KiB, before %ld", resident_kilobytes(), had_memory);
}

static void between_groups(void) {
  MPI_Comm half, inter, merged;
  const int low = check_rank < check_size / 2;
  const int first_of_others = low ? check_size / 2 : 0;
  MPI_Comm_split(MPI_COMM_WORLD, low, check_rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, first_of_others, 5, &inter);
  for (int i = 0; i < 20; ++i) {
    int sum = -1;
    MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, inter);
    int expected = 0;
    for (int r = 0; r < check_size; ++r) expected += (r < check_size / 2) != low ? r : 0;
    CHECK(sum == expected, "allreduce between groups: %d, expected %d", sum, expected);
    int value = low ? 7 + i : -1;
    MPI_Bcast(&value, 1, MPI_INT, low ? (check_rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0, inter);
    CHECK(value == 7 + i, "bcast between groups: %d", value);
    MPI_Barrier(inter);
  }
  MPI_Intercomm_merge(inter, low, &merged);
  for (int i = 0; i < 20; ++i) all_operations(merged);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

static int at_the_end(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  all_operations(MPI_COMM_SELF);
  all_operations(MPI_COMM_WORLD);
  return MPI_SUCCESS;
}

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  check_begin();
  const int rounds = count > 1 ? atoi(arguments[1]) : 500;
  for (int i = 0; i < 20; ++i) all_operations(MPI_COMM_SELF);
  MPI_Comm reversed;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &reversed);
  for (int i = 0; i < 20; ++i) all_operations(reversed);
  // Shared by ranks that are no longer all alive at the same time as the communicator.
  MPI_Comm left_over;
  MPI_Comm_dup(reversed, &left_over);
  for (int i = 0; i < 20; ++i) all_operations(left_over);
  storm(rounds);
  between_groups();
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
  return check_end();
}
