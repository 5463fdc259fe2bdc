// SPDX-License-Identifier: Apache-2.0
// One communicator of Open MPI (an mca_coll_base_module_t): its state, and the functions that Open MPI calls.
#pragma once

#include "ompi/mca/coll/coll.h"
#include "ompi_config.h"

struct weft_module {
  mca_coll_base_module_t super;
  // weft::coll::Front; null before the module is enabled.
  void* front;
  struct ompi_communicator_t* comm;
  // What the communicator had before weft: functions for the calls that weft leaves to MPI, and the modules that these
  // belong to.
  struct {
    mca_coll_base_module_barrier_fn_t barrier;
    mca_coll_base_module_bcast_fn_t bcast;
    mca_coll_base_module_reduce_fn_t reduce;
    mca_coll_base_module_allreduce_fn_t allreduce;
    mca_coll_base_module_allgather_fn_t allgather;
    mca_coll_base_module_alltoall_fn_t alltoall;
    mca_coll_base_module_t* modules[6];
  } previous;
};
typedef struct weft_module weft_module;
OBJ_CLASS_DECLARATION(weft_module);

// The name of the communicator of a module; for weft_callbacks.
void weft_module_name(void* module, char* text, size_t size);

// Makes a module with all functions of weft's; null: there is no memory.
mca_coll_base_module_t* weft_module_new(void);
