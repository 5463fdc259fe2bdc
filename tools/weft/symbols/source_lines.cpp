// SPDX-License-Identifier: Apache-2.0
// With the lines of sources, by elfutils.
#include <cstdio>

#include "symbols/demangled.h"
#include "symbols/libdw.h"
#include "symbols/readers.h"

namespace weft::tools {

namespace {

class SourceLines : public Symbols {
 public:
  SourceLines(const DwarfFunctions& library, const std::string& maps_file)
      : dw_(library),
        callbacks_{.find_elf = library.dwfl_linux_proc_find_elf,
                   .find_debuginfo = library.dwfl_standard_find_debuginfo,
                   .section_address = nullptr,
                   .debuginfo_path = nullptr} {
    std::FILE* maps = std::fopen(maps_file.c_str(), "re");
    if (maps == nullptr) return;
    dwfl_ = dw_.dwfl_begin(&callbacks_);
    if (dwfl_ != nullptr) {
      dw_.dwfl_linux_proc_maps_report(dwfl_, maps);
      dw_.dwfl_report_end(dwfl_, nullptr, nullptr);
    }
    std::fclose(maps);
  }
  ~SourceLines() override {
    if (dwfl_ != nullptr) dw_.dwfl_end(dwfl_);
  }

  bool reads_lines() const override { return true; }

  CodePlace find(uint64_t address) override {
    CodePlace place;
    place.offset = address;
    Dwfl_Module* module = dwfl_ != nullptr ? dw_.dwfl_addrmodule(dwfl_, address - 1) : nullptr;
    if (module == nullptr) return place;
    Dwarf_Addr begin = 0;
    const char* path = nullptr;
    const char* name = dw_.dwfl_module_info(module, nullptr, &begin, nullptr, nullptr, nullptr, &path, nullptr);
    place.object = path != nullptr ? path : name != nullptr ? name : "";
    place.offset = address - begin;
    // Of the call, which stands before the address that it returns to.
    if (const char* function = dw_.dwfl_module_addrname(module, address - 1)) place.function = demangled(function);
    if (Dwfl_Line* line = dw_.dwfl_module_getsrc(module, address - 1)) {
      if (const char* file = dw_.dwfl_lineinfo(line, nullptr, &place.line, nullptr, nullptr, nullptr))
        place.file = file;
    } else {
      find_in_units(module, address - 1, place);
    }
    return place;
  }

 private:
  // Without .debug_aranges, which clang does not write: by what each unit says of itself.
  void find_in_units(Dwfl_Module* module, Dwarf_Addr address, CodePlace& place) const {
    Dwarf_Addr bias = 0;
    for (Dwarf_Die* unit = nullptr; (unit = dw_.dwfl_module_nextcu(module, unit, &bias)) != nullptr;) {
      if (dw_.dwarf_haspc(unit, address - bias) <= 0) continue;
      Dwarf_Line* line = dw_.dwarf_getsrc_die(unit, address - bias);
      const char* file = line != nullptr ? dw_.dwarf_linesrc(line, nullptr, nullptr) : nullptr;
      if (file != nullptr && dw_.dwarf_lineno(line, &place.line) == 0) place.file = file;
      return;
    }
  }

  const DwarfFunctions& dw_;
  const Dwfl_Callbacks callbacks_;
  Dwfl* dwfl_ = nullptr;
};

}  // namespace

std::unique_ptr<Symbols> read_source_lines(const std::string& maps_file) {
  const DwarfFunctions* library = libdw();
  return library != nullptr ? std::make_unique<SourceLines>(*library, maps_file) : nullptr;
}

}  // namespace weft::tools
