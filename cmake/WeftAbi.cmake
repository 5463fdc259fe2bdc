# SPDX-License-Identifier: Apache-2.0
# weft_add_abi(<target> SOURCES <adapter files>...)
#
# Makes the shared library <target> export the names and version nodes of libgomp and libomp
# (src/openmp/abi/*.symbols): adds the adapters, a stub for each name that they lack, and the version script. An
# adapter defines its functions as src/openmp/abi/abi.h says. The sources must be files of the target itself, not of
# a static library, whose members a linker takes only on demand.
find_package(Python3 COMPONENTS Interpreter REQUIRED)

set(_weft_abi_source_root "${CMAKE_CURRENT_LIST_DIR}/../src")

function(weft_add_abi target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "weft_add_abi: unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  cmake_path(ABSOLUTE_PATH _weft_abi_source_root NORMALIZE OUTPUT_VARIABLE root)
  set(abi "${root}/openmp/abi")
  set(into "${CMAKE_CURRENT_BINARY_DIR}/${target}_abi")
  # By precedence.
  set(lists "${abi}/libgomp.symbols" "${abi}/libgomp-later.symbols" "${abi}/libomp.symbols" "${abi}/libomp-later.symbols" "${abi}/weft.symbols")
  list(TRANSFORM lists PREPEND "--list=" OUTPUT_VARIABLE list_options)
  set(sources)
  foreach(source IN LISTS arg_SOURCES)
    cmake_path(ABSOLUTE_PATH source NORMALIZE OUTPUT_VARIABLE absolute)
    list(APPEND sources "${absolute}")
  endforeach()

  add_custom_command(
    OUTPUT "${into}/abi_symver.h" "${into}/abi_stubs.cpp" "${into}/weft.map"
    COMMAND Python3::Interpreter "${abi}/generate.py" ${list_options} --into "${into}" ${sources}
    DEPENDS ${lists} "${abi}/generate.py" ${sources}
    COMMENT "Binding ${target} to the version nodes of libgomp and libomp"
    VERBATIM)

  target_sources(${target} PRIVATE ${sources} "${abi}/missing.cpp" "${into}/abi_stubs.cpp" "${into}/abi_symver.h")
  target_include_directories(${target} PRIVATE "${root}" "${into}")
  target_link_options(${target} PRIVATE "LINKER:--version-script=${into}/weft.map")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${into}/weft.map")
endfunction()
