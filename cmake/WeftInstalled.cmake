# SPDX-License-Identifier: Apache-2.0
# What is installed is built by a target of its own, which builds nothing else: weft_installed, and weft_installed_COMPONENT
# for each component that is installed by its name. `make install`, `make deb` and pip build these. They follow from the
# rules of installation; tests/packages/targets_test.py finds a rule whose files they do not make.
add_custom_target(weft_installed ALL)

# weft_install(<what install() takes>... [BUILT_BY <targets>])
#
# install(), for what is built: of TARGETS, or of files that the targets behind BUILT_BY make.
function(weft_install)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "BUILT_BY")
  install(${arg_UNPARSED_ARGUMENTS})
  set(builds weft_installed)
  list(FIND arg_UNPARSED_ARGUMENTS COMPONENT at)
  if(NOT at EQUAL -1)
    math(EXPR at "${at} + 1")
    list(GET arg_UNPARSED_ARGUMENTS ${at} component)
    string(APPEND builds "_${component}")
    if(NOT TARGET ${builds})
      add_custom_target(${builds} ALL)
    endif()
  endif()
  list(POP_FRONT arg_UNPARSED_ARGUMENTS kind)
  if(kind STREQUAL "TARGETS")
    foreach(word IN LISTS arg_UNPARSED_ARGUMENTS)
      if(NOT TARGET ${word})
        break()  # the first of the keywords that follow
      endif()
      list(APPEND arg_BUILT_BY ${word})
    endforeach()
  endif()
  if(arg_BUILT_BY)
    add_dependencies(${builds} ${arg_BUILT_BY})
  endif()
endfunction()

set(WEFT_INSTALL_LIBRARY_DIR ${CMAKE_INSTALL_LIBDIR}/weft)
# Before all other rules: which of the folders that weft shares with others are there. Those that are not are made by this
# installation, and scripts/uninstall removes them where nothing else has come into them.
set(WEFT_SHARED_FOLDERS)
foreach(folder ${CMAKE_INSTALL_BINDIR} ${CMAKE_INSTALL_LIBDIR}/cmake ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        ${CMAKE_INSTALL_INCLUDEDIR} ${CMAKE_INSTALL_DATADIR}/doc ${CMAKE_INSTALL_MANDIR}/man1 ${CMAKE_INSTALL_MANDIR}/man3
        ${CMAKE_INSTALL_DATADIR}/modulefiles)
  while(NOT folder MATCHES "^/?$")
    list(APPEND WEFT_SHARED_FOLDERS ${folder})
    cmake_path(GET folder PARENT_PATH folder)
  endwhile()
endforeach()
list(REMOVE_DUPLICATES WEFT_SHARED_FOLDERS)
if(PROJECT_IS_TOP_LEVEL)  # else the list would have the files of the project around it
  install(CODE "set(weft_list \"${WEFT_INSTALL_LIBRARY_DIR}/installed.txt\")
set(weft_shared_folders \"${WEFT_SHARED_FOLDERS}\")" ALL_COMPONENTS)
  install(SCRIPT ${CMAKE_CURRENT_LIST_DIR}/SeeFolders.cmake ALL_COMPONENTS)
endif()
# `all` has the tests too: cpack and `install` of the build's own do not ask for it, and `make` builds what is installed.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ${WEFT_TESTS})
