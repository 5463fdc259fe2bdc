# SPDX-License-Identifier: Apache-2.0
# The first step of an installation: weft_made_folders are those of weft_shared_folders that it will make.
set(weft_root "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
set(weft_made_folders)
foreach(folder IN ITEMS "." ${weft_shared_folders})
  if(NOT EXISTS "${weft_root}/${folder}")
    list(APPEND weft_made_folders "${folder}")
  endif()
endforeach()
