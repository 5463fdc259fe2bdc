# SPDX-License-Identifier: Apache-2.0
# `make deb`: one package with what belongs to no component, under /usr.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME weft)
set(CPACK_PACKAGE_CONTACT "weft developers <noreply@weft.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Drop-in OpenMP runtime whose nested parallelism shares the CPUs")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_SOURCE_DIR}/build/dist)
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};weft;${CMAKE_INSTALL_DEFAULT_COMPONENT_NAME};/")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Loaded when it is there: lines of sources in `weft report` and `weft numa`.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS libdw1)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
if(PROJECT_IS_TOP_LEVEL)
  include(CPack)
endif()
