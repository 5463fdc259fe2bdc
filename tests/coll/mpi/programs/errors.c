// SPDX-License-Identifier: Apache-2.0
// What MPI says to wrong arguments: run with weft and without, the lines are the same. All ranks are wrong alike.
#include "check.h"

static void say(const char* what, int code) {
  int class = MPI_SUCCESS;
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_class(code, &class);
  MPI_Error_string(class, text, &length);
  printf("%d: %s: %s\n", check_rank, what, text);
}

static void ask(MPI_Comm comm) {
  int a[64], b[64], one = 1, two = 2, same = 1;
  MPI_Datatype loose;
  MPI_Type_vector(2, 1, 2, MPI_INT, &loose);
  for (int i = 0; i < 3; ++i) {
    say("bcast, root too high", MPI_Bcast(a, 1, MPI_INT, check_size, comm));
    say("bcast, root below 0", MPI_Bcast(a, 1, MPI_INT, -7, comm));
    say("bcast, count below 0", MPI_Bcast(a, -1, MPI_INT, 0, comm));
    say("bcast, no type", MPI_Bcast(a, 1, MPI_DATATYPE_NULL, 0, comm));
    say("bcast, type not committed", MPI_Bcast(a, 1, loose, 0, comm));
    say("reduce, no operation", MPI_Reduce(&one, &two, 1, MPI_INT, MPI_OP_NULL, 0, comm));
    say("reduce, operation without a meaning for the type", MPI_Reduce(&one, &two, 1, MPI_DOUBLE_INT, MPI_SUM, 0, comm));
    say("reduce, root too high", MPI_Reduce(&one, &two, 1, MPI_INT, MPI_SUM, check_size, comm));
    say("allreduce, the same buffer", MPI_Allreduce(&same, &same, 1, MPI_INT, MPI_SUM, comm));
    say("allreduce, operation without a meaning for the type", MPI_Allreduce(&one, &two, 1, MPI_FLOAT, MPI_BAND, comm));
    // (MPICH looks at no counts of the others, and crashes.)
    say("allgather, no type", MPI_Allgather(a, 1, MPI_DATATYPE_NULL, b, 1, MPI_DATATYPE_NULL, comm));
    say("alltoall, no type", MPI_Alltoall(a, 1, MPI_INT, b, 1, MPI_DATATYPE_NULL, comm));
    say("barrier, no communicator", MPI_Barrier(MPI_COMM_NULL));
    say("bcast, no communicator", MPI_Bcast(a, 1, MPI_INT, 0, MPI_COMM_NULL));

    // All is well afterwards.
    int sum = 0;
    say("allreduce", MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == check_size, "sum %d", sum);
  }
  MPI_Type_free(&loose);
}

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  check_begin();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  ask(MPI_COMM_WORLD);
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  ask(copy);
  MPI_Comm_free(&copy);
  return check_end();
}
