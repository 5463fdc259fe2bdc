# SPDX-License-Identifier: Apache-2.0
# The last step of an installation: PREFIX/<libdir>/weft/installed.txt, for scripts/uninstall. It lies in the prefix, so that
# neither another installation nor cpack writes over it, and its names are relative, so that the prefix can be moved. What an
# earlier installation to the prefix has listed stays listed. Wheels and packages have no list: pip and dpkg keep their own.
if(CMAKE_INSTALL_COMPONENT AND NOT CMAKE_INSTALL_COMPONENT MATCHES "^(engines|prefix|tsan)$")
  return()
endif()
set(lines "# What scripts/uninstall removes: files, and the folders that this leaves empty. It keeps a folder that weft"
          "# shares with others (shared) unless weft made it (made).")
if(EXISTS "${weft_root}/${weft_list}")
  file(STRINGS "${weft_root}/${weft_list}" earlier)
  list(APPEND lines ${earlier})
endif()
foreach(folder IN LISTS weft_made_folders)
  list(APPEND lines "made ${folder}")
endforeach()
foreach(folder IN LISTS weft_shared_folders)
  list(APPEND lines "shared ${folder}")
endforeach()
foreach(file IN LISTS CMAKE_INSTALL_MANIFEST_FILES)
  cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}")
  list(APPEND lines "file ${file}")
endforeach()
list(APPEND lines "file ${weft_list}")
list(REMOVE_DUPLICATES lines)
list(JOIN lines "\n" text)
file(WRITE "${weft_root}/${weft_list}" "${text}\n")
