// SPDX-License-Identifier: Apache-2.0
// mca_coll_weft.so, as Open MPI loads it: its parameters, and which communicators it takes part in.
#include "ompi_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll/openmpi/bridge.h"
#include "coll/openmpi/module.h"
#include "coll/openmpi/other_versions.h"
#include "ompi/communicator/communicator.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/group/group.h"
#include "ompi/mca/coll/coll.h"
#include "opal/datatype/opal_convertor.h"
#include "opal/mca/base/mca_base_var.h"
#include "opal/mca/pmix/base/base.h"
#include "opal/mca/pmix/pmix.h"
#include "opal/runtime/opal_progress.h"
#include "opal/util/proc.h"

static int register_parameters(void);
static int open_component(void);
static int close_component(void);
static int init_query(bool enable_progress_threads, bool enable_mpi_threads);
static mca_coll_base_module_t* comm_query(struct ompi_communicator_t* comm, int* priority);

// Open MPI looks for this name.
__attribute__((visibility("default"))) mca_coll_base_component_t mca_coll_weft_component = {
    .collm_version = {MCA_COLL_BASE_VERSION_2_0_0,
                      .mca_component_name = "weft",
                      MCA_BASE_MAKE_VERSION(component, OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION),
                      .mca_open_component = open_component,
                      .mca_close_component = close_component,
                      .mca_register_component_params = register_parameters},
    .collm_data = {MCA_BASE_METADATA_PARAM_NONE},
    .collm_init_query = init_query,
    .collm_comm_query = comm_query,
};

// Above tuned (30), below sync (50), which calls what is below it.
enum { kPriority = 45 };

static int g_priority = kPriority;
static bool g_in_use;
static struct weft_settings g_settings;
// Where parameters put what they hold: Open MPI frees its texts.
static const char* g_rules;

static void add(const char* name, const char* help, mca_base_var_type_t type, void* place) {
  mca_base_component_var_register(&mca_coll_weft_component.collm_version, name, help, type, NULL, 0, 0,
                                  OPAL_INFO_LVL_6, MCA_BASE_VAR_SCOPE_READONLY, place);
}

static int register_parameters(void) {
  static const char* const kOperations[] = {"barrier", "bcast", "reduce", "allreduce", "allgather", "alltoall"};
  // The environment's are the defaults.
  weft_coll_defaults(&g_settings);
  g_rules = g_settings.rules;
  g_priority = kPriority;
  add("priority", "of weft among the components; 0 or less: it takes no part", MCA_BASE_VAR_TYPE_INT, &g_priority);
  add("rules", "the file that says which calls weft takes (WEFT_COLLECTIVES_RULES)", MCA_BASE_VAR_TYPE_STRING, &g_rules);
  add("after", "the collective call of a communicator from which on weft takes it (WEFT_COLLECTIVES_AFTER)",
      MCA_BASE_VAR_TYPE_INT, &g_settings.after);
  add("queue_bytes", "of each rank's queue; 0: by the ranks (WEFT_COLLECTIVES_QUEUE)", MCA_BASE_VAR_TYPE_SIZE_T,
      &g_settings.queue_bytes);
  add("fragment_bytes", "of one buffer of a queue; 0: by what is measured (WEFT_COLLECTIVES_FRAGMENT)",
      MCA_BASE_VAR_TYPE_SIZE_T, &g_settings.fragment_bytes);
  add("single_copy", "whether ranks may read each other's memory (WEFT_COLLECTIVES_SINGLE_COPY)",
      MCA_BASE_VAR_TYPE_BOOL, &g_settings.single_copy);
  add("compare", "whether MPI's own are measured too, and take what they do faster (WEFT_COLLECTIVES_COMPARE)",
      MCA_BASE_VAR_TYPE_BOOL, &g_settings.compare);
  for (int i = 0; i < kWeftOperations; ++i) {
    char help[80];
    snprintf(help, sizeof help, "whether weft may take %s", kOperations[i]);
    add(kOperations[i], help, MCA_BASE_VAR_TYPE_BOOL, &g_settings.operations[i]);
  }
  return OMPI_SUCCESS;
}

static void died(int rank) {
  weft_coll_say_died(rank);
  PMPI_Abort(MPI_COMM_WORLD, 1);
}

// Open MPI says of its collectives' interface that it is the same in versions, and in builds for debugging, in which
// structures are not.
static bool fits(void) {
  static int known = -1;
  if (known >= 0) return known != 0;
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  char wanted[32];
  int length = 0;
  snprintf(wanted, sizeof wanted, "Open MPI v%d.%d.", OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION);
  PMPI_Get_library_version(version, &length);
  version[strcspn(version, ",")] = '\0';
  const bool same = strncmp(version, wanted, strlen(wanted)) == 0 &&
                    mca_coll_base_module_t_class.cls_sizeof == sizeof(mca_coll_base_module_t) &&
                    ompi_communicator_t_class.cls_sizeof == sizeof(ompi_communicator_t) &&
                    ompi_datatype_t_class.cls_sizeof == sizeof(ompi_datatype_t) &&
                    opal_convertor_t_class.cls_sizeof == sizeof(opal_convertor_t);
  // The library before MPI serves any version.
  if (!same && !weft_coll_has_library()) weft_coll_say_unfit(OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, version);
  known = same;
  return same;
}

// ---- who else has the component ----

// Each rank leaves this with the launcher before the ranks exchange what they need to talk. Behind that all ranks of a
// node see the same, and leave communicators to MPI alike.
static char kMark[] = "weft.coll";
enum { kProtocol = 1 };

enum { kNotAsked, kHas, kLacks, kHasOther };
static unsigned char* g_ranks;  // of the job, by number

// What only looks at components, as ompi_info, has no launcher.
static int open_component(void) {
  uint32_t mark = kProtocol;
  int result = OPAL_SUCCESS;
  if (g_priority <= 0 || !fits() || opal_pmix.initialized == NULL || !opal_pmix.initialized()) return OMPI_SUCCESS;
  OPAL_MODEX_SEND_VALUE(result, OPAL_PMIX_LOCAL, kMark, &mark, OPAL_UINT32);
  return result == OPAL_SUCCESS ? OMPI_SUCCESS : OMPI_ERR_NOT_AVAILABLE;
}

static int ask_mark(struct ompi_group_t* group, int rank) {
  opal_process_name_t name = ompi_group_get_proc_name(group, rank);
  uint32_t mark = 0;
  uint32_t* place = &mark;
  int result = OPAL_SUCCESS;
  // The launcher answers at once, also that there is none.
  OPAL_MODEX_RECV_VALUE_IMMEDIATE(result, kMark, &name, &place, OPAL_UINT32);
  if (result != OPAL_SUCCESS) return kLacks;
  return mark == kProtocol ? kHas : kHasOther;
}

// Of a group of this job, on this node. The first of its ranks that has the component says who has not.
static bool all_have_component(struct ompi_group_t* group) {
  static bool said = false;
  int missing = -1;
  int speaker = -1;
  // Without the exchange nobody knows who is late.
  if (opal_pmix_base_async_modex) return true;
  if (g_ranks == NULL) g_ranks = calloc(ompi_process_info.num_procs, 1);
  if (g_ranks == NULL) return true;
  for (int rank = 0; rank < ompi_group_size(group); ++rank) {
    unsigned char* known = &g_ranks[ompi_group_get_proc_name(group, rank).vpid];
    if (*known == kNotAsked) *known = rank == ompi_group_rank(group) ? kHas : ask_mark(group, rank);
    if (*known == kHas && speaker < 0) speaker = rank;
    if (*known != kHas && missing < 0) missing = rank;
  }
  if (missing < 0) return true;
  if (speaker == ompi_group_rank(group) && !said) {
    const uint32_t number = ompi_group_get_proc_name(group, missing).vpid;
    weft_coll_say_missing((int)number, g_ranks[number] == kHasOther);
    said = true;
  }
  return false;
}

static int init_query(bool enable_progress_threads, bool enable_mpi_threads) {
  (void)enable_progress_threads;
  // Each communicator has a state of its own, which one thread uses at a time.
  (void)enable_mpi_threads;
  if (g_priority <= 0 || !fits()) return OMPI_ERR_NOT_AVAILABLE;
  g_settings.rules = g_rules;
  g_settings.job_ranks = (int)opal_process_info.num_local_peers + 1;
  const struct weft_callbacks callbacks = {opal_progress, died, weft_module_name};
  weft_coll_settle(&g_settings, &callbacks);
  g_in_use = true;
  return OMPI_SUCCESS;
}

// For the library before MPI, which may be in the process too: it leaves the calls of this Open MPI to the component.
__attribute__((visibility("default"))) int weft_coll_component_serves(void) { return fits(); }

// In MPI_Finalize, and also where Open MPI has only looked at the component.
static int close_component(void) {
  if (g_in_use && OMPI_PROC_MY_NAME->vpid == 0) weft_coll_say_totals();
  g_in_use = false;
  free(g_ranks);
  g_ranks = NULL;
  return OMPI_SUCCESS;
}

// Processes that were started otherwise may run without weft.
static bool is_of_own_job(struct ompi_group_t* group) {
  for (int rank = 0; rank < ompi_group_size(group); ++rank) {
    if (ompi_group_get_proc_name(group, rank).jobid != OMPI_PROC_MY_NAME->jobid) return false;
  }
  return true;
}

static mca_coll_base_module_t* comm_query(struct ompi_communicator_t* comm, int* priority) {
  if (OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 2) return NULL;
  if (ompi_group_have_remote_peers(comm->c_local_group)) return NULL;
#if OPAL_CUDA_SUPPORT
  // Data may lie in the memory of a device.
  return NULL;
#endif
  if (!is_of_own_job(comm->c_local_group) || !all_have_component(comm->c_local_group)) return NULL;
  *priority = g_priority;
  return weft_module_new();
}
