/* SPDX-License-Identifier: Apache-2.0 */
/* What came with MPI 4: messages in parts, sessions. And MPI's own tools interface. An MPI without them says less. */
#include "say.h"

#if MPI_VERSION >= 4
static void in_parts(void) {
  enum { parts = 4, each = 100 };
  int from[parts * each], into[parts * each], arrived = 0, k;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  for (k = 0; k < parts * each; k++) from[k] = rank * 10000 + k;
  MPI_Psend_init(from, parts, each, MPI_INT, peer, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  MPI_Precv_init(into, parts, each, MPI_INT, peer, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  for (int round = 0; round < 2; round++) {
    memset(into, 0, sizeof into);
    MPI_Startall(2, requests);
    come_late();
    for (k = parts - 1; k >= 0; k--) MPI_Pready(k, requests[0]);
    while (!arrived) MPI_Parrived(requests[1], 1, &arrived);
    arrived = 0;
    const int code = MPI_Waitall(2, requests, statuses);
    for (k = 0; k < parts * each && into[k] == peer * 10000 + k; k++) {
    }
    say("parts: %s, %d right, active %d", name_of(code), k, requests[0] == MPI_REQUEST_NULL);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

static void by_session(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  int sum = -1, one = rank + 1;
  say("session: %s", name_of(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session)));
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "weft.test", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  come_early();
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  say("sum %d", sum);
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
}
#endif

static void of_tools(void) {
  int provided, variables, categories;
  say("tools: %s", name_of(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided)));
  MPI_T_cvar_get_num(&variables);
  MPI_T_category_get_num(&categories);
  say("variables %d, categories %d", variables > 0, categories > 0);
  MPI_T_finalize();
}

int main(int argc, char **argv) {
  start(argc, argv);
#pragma omp parallel num_threads(2)
#pragma omp master
  {
    of_tools();
#if MPI_VERSION >= 4
    in_parts();
    by_session();
#endif
  }
  MPI_Finalize();
  return 0;
}
