# SPDX-License-Identifier: Apache-2.0
# PREFIX/bin/weft, weftcc, weftc++ and weftfort, PREFIX/<libdir>/weft with the compatible names, PREFIX/<libdir>/cmake/weft,
# PREFIX/<libdir>/pkgconfig, PREFIX/include/weft; the manual pages and completions are installed by tools/weft/pages.
include(CMakePackageConfigHelpers)

set(WEFT_INSTALL_LIBRARY_DIR ${CMAKE_INSTALL_LIBDIR}/weft)
install(TARGETS weft_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET weft_driver)
  install(TARGETS weft_driver RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES ${CMAKE_BINARY_DIR}/bin/weftc++ ${CMAKE_BINARY_DIR}/bin/weftfort DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(TARGETS weft weft_audit weft_numa weft_preload weft_profile weft_tcm weft_trace weft_mpi weft_shm
        LIBRARY DESTINATION ${WEFT_INSTALL_LIBRARY_DIR})
foreach(mpi IN LISTS WEFT_MPIS)
  install(TARGETS weft_mpi_${mpi} LIBRARY DESTINATION ${WEFT_INSTALL_LIBRARY_DIR})
  if(TARGET weft_coll_${mpi})
    install(TARGETS weft_coll_${mpi} LIBRARY DESTINATION ${WEFT_INSTALL_LIBRARY_DIR})
  endif()
  install(TARGETS weft_tuner_${mpi} weft_tuner_${mpi}_module
          RUNTIME DESTINATION ${WEFT_INSTALL_LIBRARY_DIR} LIBRARY DESTINATION ${WEFT_INSTALL_LIBRARY_DIR})
endforeach()
foreach(mpi IN LISTS WEFT_COLL_MPIS)
  install(TARGETS weft_coll_${mpi} LIBRARY DESTINATION ${WEFT_INSTALL_LIBRARY_DIR})
endforeach()
install(DIRECTORY python/weft/tune DESTINATION ${WEFT_INSTALL_LIBRARY_DIR} FILES_MATCHING PATTERN "*.py")
install(FILES ${WEFT_LIBRARY_DIR}/libomp.so.5 ${WEFT_LIBRARY_DIR}/libomp.so ${WEFT_LIBRARY_DIR}/libiomp5.so
        DESTINATION ${WEFT_INSTALL_LIBRARY_DIR})
if(TARGET weft_pass)
  install(TARGETS weft_pass LIBRARY DESTINATION ${WEFT_INSTALL_LIBRARY_DIR})
endif()
# Only by --component engines: packages must not depend on what engines stand on.
foreach(engine IN LISTS WEFT_ENGINES)
  install(TARGETS weft_engine_${engine} LIBRARY DESTINATION ${WEFT_INSTALL_LIBRARY_DIR} COMPONENT engines EXCLUDE_FROM_ALL)
endforeach()
if(TARGET weft_tsan)
  install(TARGETS weft_tsan LIBRARY DESTINATION ${WEFT_INSTALL_LIBRARY_DIR}/tsan)
  install(FILES ${WEFT_LIBRARY_DIR}/tsan/libomp.so.5 ${WEFT_LIBRARY_DIR}/tsan/libiomp5.so
          DESTINATION ${WEFT_INSTALL_LIBRARY_DIR}/tsan)
endif()
install(FILES tools/gdb/weft-gdb.py DESTINATION ${WEFT_INSTALL_LIBRARY_DIR})
install(DIRECTORY docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 FILES_MATCHING PATTERN "*.3")
# A page for each call, which leads to the one that describes it.
file(GLOB weft_pages CONFIGURE_DEPENDS docs/man/*.3)
foreach(page IN LISTS weft_pages)
  get_filename_component(described ${page} NAME)
  file(STRINGS ${page} calls REGEX "^\\.Nm weft_")
  foreach(call IN LISTS calls)
    string(REGEX MATCH "weft_[a-z_]+" call ${call})
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/man3/${call}.3 CONTENT ".so man3/${described}\n" @ONLY)
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
endforeach()
install(DIRECTORY ${PROJECT_BINARY_DIR}/man3/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
install(DIRECTORY include/weft DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES README.md LICENSE CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

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

# `make deb`: one package with what the above installs, under /usr.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME weft)
set(CPACK_PACKAGE_CONTACT "weft developers <noreply@weft.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Drop-in OpenMP runtime whose nested parallelism shares the CPUs")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_SOURCE_DIR}/build/dist)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
if(PROJECT_IS_TOP_LEVEL)
  include(CPack)
endif()
