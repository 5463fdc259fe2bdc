/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that make communicators, and what they call back. */
#include "say.h"

static int copies, deletions;

/* Attribute functions that communicate: they run inside MPI. */
static int copy_attribute(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *flag) {
  int sum = 0, one = 1;
  (void)key;
  (void)extra;
  MPI_Sendrecv(&one, 1, MPI_INT, 0, 3, &sum, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  (void)comm;
  copies += sum;
  *(void **)copy = (char *)value + 1;
  *flag = 1;
  return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int key, void *value, void *extra) {
  int got = 0, one = 1;
  (void)comm;
  (void)key;
  (void)value;
  (void)extra;
  MPI_Sendrecv(&one, 1, MPI_INT, 0, 4, &got, 1, MPI_INT, 0, 4, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  deletions += got;
  return MPI_SUCCESS;
}

static void describe(const char *what, MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) {
    say("%s: none", what);
    return;
  }
  int r, n, sum = 0;
  MPI_Comm_rank(comm, &r);
  MPI_Comm_size(comm, &n);
  come_late();
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  say("%s: %d of %d, sum %d", what, r, n, sum);
}

int main(int argc, char **argv) {
  start(argc, argv);
  MPI_Comm duplicate, split, shared, some, cart, row, graph, around;
  MPI_Group world, few;
  int key, flag = 0;
  char cookie[4];
  char *kept = NULL;

  MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, cookie);
  come_late();
  say("dup %s", name_of(MPI_Comm_dup(MPI_COMM_WORLD, &duplicate)));
  MPI_Comm_get_attr(duplicate, key, &kept, &flag);
  say("copied %d, %d times", flag && kept == cookie + 1, copies);
  describe("duplicate", duplicate);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
  MPI_Comm_free(&duplicate);
  say("deleted %d, null %d", deletions, duplicate == MPI_COMM_NULL);
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &duplicate);
  describe("with info", duplicate);

  come_late();
  MPI_Comm_split(duplicate, rank % 2 ? 1 : MPI_UNDEFINED, -rank, &split);
  describe("split", split);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &shared);
  describe("shared", shared);

  const int first[2] = {1, 0};
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 2, first, &few);
  come_early();
  MPI_Comm_create(MPI_COMM_WORLD, few, &some);
  describe("created", some);
  if (some != MPI_COMM_NULL) MPI_Comm_free(&some);
  if (rank < 2) {
    MPI_Comm_create_group(MPI_COMM_WORLD, few, 9, &some);
    describe("of a group", some);
    MPI_Comm_disconnect(&some);
    say("disconnected %d", some == MPI_COMM_NULL);
  }

  const int two[2] = {size / 2, 2}, none[2] = {0, 0}, keep[2] = {1, 0};
  MPI_Cart_create(MPI_COMM_WORLD, 2, two, none, 0, &cart);
  describe("cart", cart);
  come_late();
  MPI_Cart_sub(cart, keep, &row);
  describe("row", row);
  const int others[2] = {(rank + 1) % size, (rank + size - 1) % size};
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, others, MPI_UNWEIGHTED, 2, others, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &graph);
  describe("graph", graph);
  const int degree = 2;
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &degree, others, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &around);
  describe("around", around);

  MPI_Group_free(&few);
  MPI_Group_free(&world);
  MPI_Comm_free_keyval(&key);
  MPI_Finalize();
  return 0;
}
