# SPDX-License-Identifier: Apache-2.0
# The component `python`: the package `weft` with the runtime and the command inside, relative to the package's folder.
# A wheel holds just this component, and pip builds weft_installed_python, which follows from the rules below.
# `cmake --install ... --component python` makes the same tree for the tests. Without
# links, which wheels cannot hold: the other names of the runtime are answered by the audit library.
install(DIRECTORY python/weft/ DESTINATION . COMPONENT python EXCLUDE_FROM_ALL FILES_MATCHING PATTERN "*.py"
        PATTERN "py.typed")
# Jupyter's server switches on what such a file lists (`jupyter server extension enable weft`), beside other packages' files.
set(jupyter_dir etc/jupyter)
if(SKBUILD_DATA_DIR)
  set(jupyter_dir ${SKBUILD_DATA_DIR}/etc/jupyter)
endif()
install(FILES python/jupyter/weft.json DESTINATION ${jupyter_dir}/jupyter_server_config.d COMPONENT python EXCLUDE_FROM_ALL)
weft_install(FILES ${PROJECT_BINARY_DIR}/python/_version.py DESTINATION . COMPONENT python EXCLUDE_FROM_ALL
             BUILT_BY weft_version)
weft_install(TARGETS weft weft_audit weft_numa weft_numa_protect weft_observe weft_preload weft_tcm weft_mpi weft_shm
        LIBRARY DESTINATION lib/weft COMPONENT python EXCLUDE_FROM_ALL NAMELINK_SKIP)
foreach(mpi IN LISTS WEFT_MPIS)
  weft_install(TARGETS weft_mpi_${mpi} weft_coll_${mpi} weft_tuner_${mpi}_module
               LIBRARY DESTINATION lib/weft COMPONENT python EXCLUDE_FROM_ALL)
endforeach()
if(WEFT_MPIS)
  weft_install(TARGETS weft_coll_names LIBRARY DESTINATION lib/weft COMPONENT python EXCLUDE_FROM_ALL)
  weft_install(TARGETS weft_tuner_openmpi weft_tuner_mpich RUNTIME DESTINATION lib/weft COMPONENT python EXCLUDE_FROM_ALL)
endif()
if(TARGET weft_coll_component)
  weft_install(TARGETS weft_coll_component LIBRARY DESTINATION lib/weft COMPONENT python EXCLUDE_FROM_ALL)
endif()
# In a wheel the command is one of its scripts, beside `python`: one that Python starts would double the time to start.
set(command_dir bin)
if(SKBUILD_SCRIPTS_DIR)
  set(command_dir ${SKBUILD_SCRIPTS_DIR})
endif()
weft_install(TARGETS weft_command RUNTIME DESTINATION ${command_dir} COMPONENT python EXCLUDE_FROM_ALL)
if(TARGET weft_driver)
  weft_install(TARGETS weft_driver RUNTIME DESTINATION ${command_dir} COMPONENT python EXCLUDE_FROM_ALL)
  foreach(name weftc++ weftfort)
    weft_install(PROGRAMS $<TARGET_FILE:weft_driver> RENAME ${name} DESTINATION ${command_dir} COMPONENT python EXCLUDE_FROM_ALL
                 BUILT_BY weft_driver)
  endforeach()
endif()
# What weftcc's programs are linked with, in place of links: linkers read such files.
foreach(name libgomp.so libomp.so)
  file(WRITE ${PROJECT_BINARY_DIR}/python/${name} "INPUT(libgomp.so.1)\n")
  install(FILES ${PROJECT_BINARY_DIR}/python/${name} DESTINATION lib/weft COMPONENT python EXCLUDE_FROM_ALL)
endforeach()
