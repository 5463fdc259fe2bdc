/* SPDX-License-Identifier: Apache-2.0 */
/* For programs whose lines must be the same with weft's MPI library and without. */
#ifndef SAY_H
#define SAY_H

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, peer;

/* A line of this rank's, at once. */
static void say(const char *format, ...) {
  char line[1000];
  int length = snprintf(line, sizeof line, "%d: ", rank);
  va_list arguments;
  va_start(arguments, format);
  length += vsnprintf(line + length, sizeof line - (size_t)length - 1, format, arguments);
  va_end(arguments);
  line[length] = '\n';
  if (write(1, line, (size_t)length + 1) < 0) abort();
}

/* What a call returned, without what differs from call to call. */
static const char *name_of(int code) {
  int class;
  MPI_Error_class(code, &class);
#define IS(name) \
  if (class == name) return #name;
  IS(MPI_SUCCESS)
  IS(MPI_ERR_TRUNCATE) IS(MPI_ERR_IN_STATUS) IS(MPI_ERR_RANK) IS(MPI_ERR_TAG) IS(MPI_ERR_COUNT) IS(MPI_ERR_TYPE)
  IS(MPI_ERR_COMM) IS(MPI_ERR_REQUEST) IS(MPI_ERR_ROOT) IS(MPI_ERR_OP) IS(MPI_ERR_ARG) IS(MPI_ERR_PENDING)
  IS(MPI_ERR_BUFFER) IS(MPI_ERR_NO_SUCH_FILE) IS(MPI_ERR_ACCESS) IS(MPI_ERR_AMODE) IS(MPI_ERR_FILE) IS(MPI_ERR_OTHER)
#undef IS
  return "another";
}

__attribute__((unused)) static void say_status(const char *what, int code, const MPI_Status *status) {
  int count, cancelled;
  MPI_Get_count(status, MPI_INT, &count);
  MPI_Test_cancelled(status, &cancelled);
  say("%s: %s, from %d, tag %d, count %d, cancelled %d", what, name_of(code), status->MPI_SOURCE, status->MPI_TAG,
      count == MPI_UNDEFINED ? -1 : count, cancelled != 0);
}

/* The odd ranks come late, so that the even ones wait. */
static int late_us;
__attribute__((unused)) static void come_late(void) {
  if (rank % 2 == 1) usleep((useconds_t)late_us);
}
/* Likewise the even ones. */
__attribute__((unused)) static void come_early(void) {
  if (rank % 2 == 0) usleep((useconds_t)late_us);
}

static void start(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  peer = rank ^ 1;
  late_us = argc > 1 ? atoi(argv[1]) : 0;
}

#endif
