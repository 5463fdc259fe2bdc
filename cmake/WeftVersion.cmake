# SPDX-License-Identifier: Apache-2.0
# The target weft_version: at each build it looks which commit the sources are of. Its files change only when the commit
# does: version/weft_version.h for the command, python/_version.py for the package.
find_package(Git QUIET)
set(WEFT_VERSION_INCLUDE_DIR ${PROJECT_BINARY_DIR}/version)
set(write_version
  ${CMAKE_COMMAND} -D VERSION=${PROJECT_VERSION} -D SOURCE=${PROJECT_SOURCE_DIR} -D INTO=${PROJECT_BINARY_DIR}
  -D GIT=$<IF:$<BOOL:${Git_FOUND}>,${GIT_EXECUTABLE},> -P ${CMAKE_CURRENT_LIST_DIR}/WriteVersion.cmake)
add_custom_target(weft_version COMMAND ${write_version}
  BYPRODUCTS ${WEFT_VERSION_INCLUDE_DIR}/weft_version.h ${PROJECT_BINARY_DIR}/python/_version.py
  COMMENT "Which commit this is" VERBATIM)
