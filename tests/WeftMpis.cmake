# SPDX-License-Identifier: Apache-2.0
# WEFT_TEST_MPIS: the MPIs of the system that tests run with, by the suffix of their commands (mpicc.openmpi).
set(WEFT_TEST_MPIS)
if(NOT CMAKE_CROSSCOMPILING)
  foreach(mpi openmpi mpich)
    find_program(WEFT_MPICC_${mpi} mpicc.${mpi} DOC "The compiler wrapper of ${mpi}")
    if(WEFT_MPICC_${mpi})
      list(APPEND WEFT_TEST_MPIS ${mpi})
    endif()
  endforeach()
endif()
# An MPI with the standard's ABI has these names here, where scripts/setup-mpi4py has been; else its tests are skipped.
set(WEFT_TEST_ABI_PATH ${PROJECT_SOURCE_DIR}/build/mpi4py/mpich-wheel/bin)

# weft_test_by_abi(<test>...): by those commands.
function(weft_test_by_abi)
  set_property(TEST ${ARGN} APPEND PROPERTY ENVIRONMENT_MODIFICATION "PATH=path_list_prepend:${WEFT_TEST_ABI_PATH}")
endfunction()

# weft_link_mpi(<target> <mpi>): as mpicc of that MPI would compile and link it.
function(weft_link_mpi target mpi)
  execute_process(COMMAND ${WEFT_MPICC_${mpi}} -show OUTPUT_VARIABLE command COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(command UNIX_COMMAND "${command}")
  set(includes ${command})
  list(FILTER includes INCLUDE REGEX "^-I")
  list(TRANSFORM includes REPLACE "^-I" "")
  set(link ${command})
  list(FILTER link INCLUDE REGEX "^-(L|l|Wl,)")
  target_include_directories(${target} SYSTEM PRIVATE ${includes})
  target_link_libraries(${target} PRIVATE ${link})
  # Without the interface of C++ that old versions of MPI have.
  target_compile_definitions(${target} PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
endfunction()
