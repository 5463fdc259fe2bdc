/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of libweft-mpi.so, and those of libweft-coll.so: for each name of WEFT_MPI_NAMES a stub of few
 * instructions, which knows nothing of its arguments and jumps to its target. The targets stand in the order of that
 * file, from weft_mpi_targets on. */
#ifdef __x86_64__
#include "mpi/front/stub_x86_64.inc"
#else
#include "mpi/front/stub_aarch64.inc"
#endif

  .pushsection .data.rel.local, "aw"
  .p2align 3
  .hidden weft_mpi_targets
  .globl weft_mpi_targets
weft_mpi_targets:
  .popsection

  .pushsection .text.weft_mpi_chosen, "ax", %progbits
  .p2align 5
  .hidden weft_mpi_chosen_begin
  .globl weft_mpi_chosen_begin
weft_mpi_chosen_begin:
  .popsection

  .text
#define CALL(name) CHOSEN(name)
#define OWN(name) STUB(name)
#define FORTRAN(name, NAME) STUB(NAME) STUB(name) STUB(name##_) STUB(name##__) STUB(name##_f08_)
#include WEFT_MPI_NAMES
FIRST_CALL

  .pushsection .text.weft_mpi_chosen, "ax", %progbits
  .hidden weft_mpi_chosen_end
  .globl weft_mpi_chosen_end
weft_mpi_chosen_end:
  .popsection

  .section .note.GNU-stack, "", %progbits
