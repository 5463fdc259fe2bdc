# SPDX-License-Identifier: Apache-2.0
# cmake -D VERSION=... -D SOURCE=... -D INTO=... [-D GIT=...] -P WriteVersion.cmake
#
# Writes INTO/version/weft_version.h and INTO/python/_version.py. The commit is what git says of SOURCE, where SOURCE is
# the top of a working tree; otherwise what `git archive` has put into .git_archival.txt; otherwise there is none.
set(commit "")
if(GIT)
  # A prefix means that the sources lie inside another repository, whose commits say nothing of them.
  execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse --show-prefix
                  RESULT_VARIABLE failed OUTPUT_VARIABLE prefix ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT failed AND prefix STREQUAL "")
    execute_process(COMMAND ${GIT} -C ${SOURCE} describe --always --dirty --abbrev=9 --exclude=*
                    RESULT_VARIABLE failed OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(failed)
      set(commit "")
    endif()
  endif()
endif()
if(commit STREQUAL "" AND EXISTS ${SOURCE}/.git_archival.txt)
  file(STRINGS ${SOURCE}/.git_archival.txt line REGEX "^node: [0-9a-f]+$" LIMIT_COUNT 1)
  if(line MATCHES "^node: ([0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f])")
    set(commit ${CMAKE_MATCH_1})
  endif()
endif()
set(WHOLE ${VERSION})
if(commit)
  set(WHOLE "${VERSION} (${commit})")
endif()
set(COMMIT "${commit}")
configure_file(${SOURCE}/tools/weft/weft_version.h.in ${INTO}/version/weft_version.h @ONLY)
configure_file(${SOURCE}/python/version.py.in ${INTO}/python/_version.py @ONLY)
