# SPDX-License-Identifier: Apache-2.0
# weft_compile_by_folder(<target>)
#
# The sources of a folder become one translation unit, since most files are smaller than what they include: the copies
# of the runtime for sanitizers, which nobody edits, take a third of the time. What is installed is compiled file by
# file, so an include that is missing does not stay hidden.
function(weft_compile_by_folder target)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "${folder}" group)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP "in_${group}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # Types of one file's own are fields of others' there.
  target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
endfunction()

# weft_sources(<variable> <folders> [EXCEPT <files>])
#
# The sources of these folders in their order, as paths from this one: a new file needs no line anywhere. Files that begin
# with a dot are editors' own.
function(weft_sources variable)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "EXCEPT")
  set(sources)
  foreach(folder IN LISTS arg_UNPARSED_ARGUMENTS)
    file(GLOB found CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${folder}/[^.]*.cpp)
    list(APPEND sources ${found})
  endforeach()
  list(REMOVE_ITEM sources ${arg_EXCEPT} "")
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()
