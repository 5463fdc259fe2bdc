# SPDX-License-Identifier: Apache-2.0
# PREFIX/bin/weft, weftcc, weftc++ and weftfort, PREFIX/<libdir>/weft with the compatible names, PREFIX/<libdir>/cmake/weft,
# PREFIX/<libdir>/pkgconfig, PREFIX/include/weft, PREFIX/share/doc/weft, PREFIX/share/modulefiles; the command's manual pages
# and completions are installed by tools/weft/pages.
include(CMakePackageConfigHelpers)

weft_install(TARGETS weft_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET weft_driver)
  weft_install(TARGETS weft_driver RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  weft_install(FILES ${CMAKE_BINARY_DIR}/bin/weftc++ ${CMAKE_BINARY_DIR}/bin/weftfort
               DESTINATION ${CMAKE_INSTALL_BINDIR} BUILT_BY weft_driver)
endif()
weft_install(TARGETS weft weft_audit weft_numa weft_numa_protect weft_observe weft_preload weft_tcm weft_mpi weft_shm
             LIBRARY DESTINATION ${WEFT_INSTALL_LIBRARY_DIR})
foreach(mpi IN LISTS WEFT_MPIS)
  weft_install(TARGETS weft_mpi_${mpi} weft_coll_${mpi} weft_tuner_${mpi}_module
               LIBRARY DESTINATION ${WEFT_INSTALL_LIBRARY_DIR})
endforeach()
if(WEFT_MPIS)
  weft_install(TARGETS weft_coll_names LIBRARY DESTINATION ${WEFT_INSTALL_LIBRARY_DIR})
  weft_install(TARGETS weft_tuner_openmpi weft_tuner_mpich RUNTIME DESTINATION ${WEFT_INSTALL_LIBRARY_DIR})
endif()
if(TARGET weft_coll_component)
  weft_install(TARGETS weft_coll_component LIBRARY DESTINATION ${WEFT_INSTALL_LIBRARY_DIR})
endif()
install(DIRECTORY python/weft/tune DESTINATION ${WEFT_INSTALL_LIBRARY_DIR} FILES_MATCHING PATTERN "*.py")
weft_install(FILES ${WEFT_LIBRARY_DIR}/libomp.so.5 ${WEFT_LIBRARY_DIR}/libomp.so ${WEFT_LIBRARY_DIR}/libiomp5.so
             DESTINATION ${WEFT_INSTALL_LIBRARY_DIR} BUILT_BY weft)
install(FILES ${WEFT_OLD_NAMES} DESTINATION ${WEFT_INSTALL_LIBRARY_DIR})
if(TARGET weft_pass)
  weft_install(TARGETS weft_pass LIBRARY DESTINATION ${WEFT_INSTALL_LIBRARY_DIR})
  install(FILES ${WEFT_LIBRARY_DIR}/weft_pass.so DESTINATION ${WEFT_INSTALL_LIBRARY_DIR})
endif()
# Only by --component engines: packages must not depend on what engines stand on.
foreach(engine IN LISTS WEFT_ENGINES)
  weft_install(TARGETS weft_engine_${engine} LIBRARY DESTINATION ${WEFT_INSTALL_LIBRARY_DIR}
               COMPONENT engines EXCLUDE_FROM_ALL)
endforeach()
# Only by --component tsan (`make install-tsan`): it doubles what has to be compiled, and few need it.
if(TARGET weft_tsan)
  weft_install(TARGETS weft_tsan LIBRARY DESTINATION ${WEFT_INSTALL_LIBRARY_DIR}/tsan COMPONENT tsan EXCLUDE_FROM_ALL)
  weft_install(FILES ${WEFT_LIBRARY_DIR}/tsan/libomp.so.5 ${WEFT_LIBRARY_DIR}/tsan/libiomp5.so
               DESTINATION ${WEFT_INSTALL_LIBRARY_DIR}/tsan COMPONENT tsan EXCLUDE_FROM_ALL BUILT_BY weft_tsan)
endif()
install(FILES tools/gdb/weft-gdb.py DESTINATION ${WEFT_INSTALL_LIBRARY_DIR})
install(DIRECTORY docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 FILES_MATCHING PATTERN "*.3")
install(DIRECTORY docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
# A page for each further name of a page, which leads to that page.
file(GLOB weft_pages CONFIGURE_DEPENDS docs/man/[^.]*.[13])
foreach(page IN LISTS weft_pages)
  cmake_path(GET page FILENAME described)
  cmake_path(GET page EXTENSION LAST_ONLY section)
  string(SUBSTRING ${section} 1 -1 section)
  file(STRINGS ${page} names REGEX "^\\.Nm weft")
  foreach(name IN LISTS names)
    string(REGEX MATCH "weft[a-z_+]+" name ${name})
    if(NOT described STREQUAL "${name}.${section}")
      file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/man/man${section}/${name}.${section}
           CONTENT ".so man${section}/${described}\n" @ONLY)
    endif()
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
endforeach()
install(DIRECTORY ${PROJECT_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR})
install(DIRECTORY include/weft DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

# The pages, whose links lead nowhere but to each other: what is not installed is named instead. An sdist has none.
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(EXISTS ${PROJECT_SOURCE_DIR}/docs/index.md)
  set(pages ${PROJECT_BINARY_DIR}/pages)
  file(GLOB_RECURSE weft_documents CONFIGURE_DEPENDS docs/[^.]*.md docs/images/[^.]*)
  add_custom_command(OUTPUT ${pages}/made
    COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/installed_pages.py ${PROJECT_SOURCE_DIR} ${pages}/doc
    COMMAND ${CMAKE_COMMAND} -E touch ${pages}/made
    DEPENDS ${CMAKE_CURRENT_LIST_DIR}/installed_pages.py ${weft_documents} README.md CHANGELOG.md SECURITY.md LICENSE
    COMMENT "Pages to install" VERBATIM)
  add_custom_target(weft_documents DEPENDS ${pages}/made)
  weft_install(DIRECTORY ${pages}/doc/ DESTINATION ${CMAKE_INSTALL_DOCDIR} BUILT_BY weft_documents)
endif()

set(config ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
configure_package_config_file(cmake/weftConfig.cmake.in ${PROJECT_BINARY_DIR}/weftConfig.cmake
  INSTALL_DESTINATION ${config} PATH_VARS WEFT_INSTALL_LIBRARY_DIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/weftConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/weftConfig.cmake ${PROJECT_BINARY_DIR}/weftConfigVersion.cmake DESTINATION ${config})

# Relative to its own folder, so that the tree can be moved.
file(RELATIVE_PATH WEFT_PC_TO_INCLUDE /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix/${CMAKE_INSTALL_INCLUDEDIR})
configure_file(cmake/weft.pc.in ${PROJECT_BINARY_DIR}/weft.pc @ONLY)
configure_file(cmake/weft-shm.pc.in ${PROJECT_BINARY_DIR}/weft-shm.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/weft.pc ${PROJECT_BINARY_DIR}/weft-shm.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# For `module load weft`, by Environment Modules or Lmod. Packages have no component `prefix`: their files are found anyway.
file(RELATIVE_PATH WEFT_MODULE_TO_PREFIX /prefix/${CMAKE_INSTALL_DATADIR}/modulefiles/weft /prefix)
configure_file(cmake/modulefile.in ${PROJECT_BINARY_DIR}/modulefile @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/modulefile DESTINATION ${CMAKE_INSTALL_DATADIR}/modulefiles/weft RENAME ${PROJECT_VERSION}
        COMPONENT prefix)

# Behind all other rules: the list that scripts/uninstall goes by.
if(PROJECT_IS_TOP_LEVEL)
  install(SCRIPT cmake/ListInstalled.cmake ALL_COMPONENTS)
endif()
