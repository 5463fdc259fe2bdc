// SPDX-License-Identifier: Apache-2.0
#include "symbols/symbols.h"

#include <cstdio>
#include <cstdlib>

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

namespace weft::tools {

namespace {

std::string demangled(const char* name) {
  int status = 0;
  char* readable = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string result = status == 0 && readable != nullptr ? readable : name;
  std::free(readable);
  return result;
}

class DwarfSymbols : public Symbols {
 public:
  explicit DwarfSymbols(const std::string& maps_file) {
    static const Dwfl_Callbacks kCallbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                              .find_debuginfo = dwfl_standard_find_debuginfo,
                                              .section_address = nullptr,
                                              .debuginfo_path = nullptr};
    std::FILE* maps = std::fopen(maps_file.c_str(), "re");
    if (maps == nullptr) return;
    dwfl_ = dwfl_begin(&kCallbacks);
    if (dwfl_ != nullptr) {
      dwfl_linux_proc_maps_report(dwfl_, maps);
      dwfl_report_end(dwfl_, nullptr, nullptr);
    }
    std::fclose(maps);
  }
  ~DwarfSymbols() override {
    if (dwfl_ != nullptr) dwfl_end(dwfl_);
  }

  CodePlace find(uint64_t address) override {
    CodePlace place;
    place.offset = address;
    Dwfl_Module* module = dwfl_ != nullptr ? dwfl_addrmodule(dwfl_, address - 1) : nullptr;
    if (module == nullptr) return place;
    Dwarf_Addr begin = 0;
    const char* path = nullptr;
    const char* name = dwfl_module_info(module, nullptr, &begin, nullptr, nullptr, nullptr, &path, nullptr);
    place.object = path != nullptr ? path : name != nullptr ? name : "";
    place.offset = address - begin;
    // Of the call, which stands before the address that it returns to.
    if (const char* function = dwfl_module_addrname(module, address - 1)) place.function = demangled(function);
    if (Dwfl_Line* line = dwfl_module_getsrc(module, address - 1)) {
      if (const char* file = dwfl_lineinfo(line, nullptr, &place.line, nullptr, nullptr, nullptr)) place.file = file;
    } else {
      find_in_units(module, address - 1, place);
    }
    return place;
  }

 private:
  // Without .debug_aranges, which clang does not write: by what each unit says of itself.
  static void find_in_units(Dwfl_Module* module, Dwarf_Addr address, CodePlace& place) {
    Dwarf_Addr bias = 0;
    for (Dwarf_Die* unit = nullptr; (unit = dwfl_module_nextcu(module, unit, &bias)) != nullptr;) {
      if (dwarf_haspc(unit, address - bias) <= 0) continue;
      Dwarf_Line* line = dwarf_getsrc_die(unit, address - bias);
      const char* file = line != nullptr ? dwarf_linesrc(line, nullptr, nullptr) : nullptr;
      if (file != nullptr && dwarf_lineno(line, &place.line) == 0) place.file = file;
      return;
    }
  }

  Dwfl* dwfl_ = nullptr;
};

}  // namespace

std::unique_ptr<Symbols> read_symbols(const std::string& maps_file) {
  return std::make_unique<DwarfSymbols>(maps_file);
}

}  // namespace weft::tools
