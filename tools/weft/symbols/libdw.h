// SPDX-License-Identifier: Apache-2.0
// libdw of elfutils, which reads debug information: loaded when a command wants lines of sources, and not linked, so
// that the command starts on systems that have none.
#pragma once

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

namespace weft::tools {

// clang-format off
#define WEFT_LIBDW(F) \
  F(dwarf_attr) F(dwarf_filesrc) F(dwarf_formudata) F(dwarf_getscopes) F(dwarf_getscopes_die) F(dwarf_getsrc_die) F(dwarf_getsrcfiles) F(dwarf_haspc) \
  F(dwarf_lineno) F(dwarf_linesrc) F(dwarf_tag) F(dwfl_addrmodule) F(dwfl_attach_state) F(dwfl_begin) F(dwfl_end) \
  F(dwfl_frame_pc) F(dwfl_getthread_frames) F(dwfl_lineinfo) F(dwfl_linux_proc_find_elf) F(dwfl_linux_proc_maps_report) \
  F(dwfl_module_addrdie) F(dwfl_module_addrname) F(dwfl_module_getsrc) F(dwfl_module_info) F(dwfl_module_nextcu) \
  F(dwfl_report_end) F(dwfl_standard_find_debuginfo) F(dwfl_thread_state_register_pc) F(dwfl_thread_state_registers)
// clang-format on

// Its functions, by their names.
struct DwarfFunctions {
#define WEFT_LIBDW_MEMBER(name) decltype(&::name) name = nullptr;
  WEFT_LIBDW(WEFT_LIBDW_MEMBER)
#undef WEFT_LIBDW_MEMBER
};

// Null: the system has none, or lacks a function.
const DwarfFunctions* libdw();

}  // namespace weft::tools
