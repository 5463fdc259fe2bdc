// SPDX-License-Identifier: Apache-2.0
#include "executable.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string_view>

#include <elf.h>

#include "mapped_file.h"

namespace weft::tools {

namespace {

class Segments {
 public:
  explicit Segments(const MappedFile& file) : file_(file) {
    Elf64_Ehdr header{};
    if (!file.read(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return;
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr)) return;
    for (uint64_t i = 0; i < header.e_phnum; ++i) {
      Elf64_Phdr segment{};
      if (file.read(header.e_phoff + i * sizeof segment, segment)) all_.push_back(segment);
    }
  }

  const std::vector<Elf64_Phdr>& all() const { return all_; }

  // Where in the file the byte is that is loaded at this address; the file's end: nowhere.
  uint64_t offset_of(uint64_t address) const {
    for (const Elf64_Phdr& segment : all_) {
      if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz) {
        return address - segment.p_vaddr + segment.p_offset;
      }
    }
    return file_.all().size();
  }

 private:
  const MappedFile& file_;
  std::vector<Elf64_Phdr> all_;
};

// A table of versions, of which each entry says where the next one is.
struct VersionTable {
  uint64_t offset = 0;
  uint64_t count = 0;
};

void add_needed_versions(const MappedFile& file, VersionTable table, uint64_t strings, Executable& found) {
  Elf64_Verneed library{};
  for (; table.count > 0 && file.read(table.offset, library); --table.count) {
    uint64_t at = table.offset + library.vn_aux;
    Elf64_Vernaux version{};
    for (unsigned i = 0; i < library.vn_cnt && file.read(at, version); ++i) {
      const bool is_wanted = (version.vna_flags & VER_FLG_WEAK) == 0;
      if (is_wanted)
        found.needed_versions.push_back({file.text(strings + library.vn_file), file.text(strings + version.vna_name)});
      at += version.vna_next;
    }
    if (library.vn_next == 0) return;
    table.offset += library.vn_next;
  }
}

void add_versions(const MappedFile& file, VersionTable table, uint64_t strings, Executable& found) {
  Elf64_Verdef version{};
  for (; table.count > 0 && file.read(table.offset, version); --table.count) {
    Elf64_Verdaux name{};
    if (file.read(table.offset + version.vd_aux, name)) found.versions.push_back(file.text(strings + name.vda_name));
    if (version.vd_next == 0) return;
    table.offset += version.vd_next;
  }
}

void add_dynamic(const MappedFile& file, const Segments& segments, const Elf64_Phdr& dynamic, Executable& found) {
  uint64_t strings = file.all().size();
  std::vector<uint64_t> names;
  VersionTable needed;
  VersionTable own;
  for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic.p_filesz; at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry{};
    if (!file.read(dynamic.p_offset + at, entry) || entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_STRTAB) strings = segments.offset_of(entry.d_un.d_ptr);
    if (entry.d_tag == DT_NEEDED) names.push_back(entry.d_un.d_val);
    if (entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_PIE) != 0) found.is_library = false;
    if (entry.d_tag == DT_VERNEED) needed.offset = segments.offset_of(entry.d_un.d_ptr);
    if (entry.d_tag == DT_VERNEEDNUM) needed.count = entry.d_un.d_val;
    if (entry.d_tag == DT_VERDEF) own.offset = segments.offset_of(entry.d_un.d_ptr);
    if (entry.d_tag == DT_VERDEFNUM) own.count = entry.d_un.d_val;
  }
  for (const uint64_t name : names) found.needed.push_back(file.text(strings + name));
  add_needed_versions(file, needed, strings, found);
  add_versions(file, own, strings, found);
}

void add_notes(const MappedFile& file, const Elf64_Phdr& segment, Executable& found) {
  constexpr uint64_t kWord = 4;
  const auto rounded = [](uint64_t size) { return (size + kWord - 1) / kWord * kWord; };
  uint64_t at = segment.p_offset;
  Elf64_Nhdr note{};
  while (at + sizeof note <= segment.p_offset + segment.p_filesz && file.read(at, note)) {
    const std::string_view name = file.part(at + sizeof note, note.n_namesz);
    found.notes.emplace_back(name.substr(0, name.find('\0')));
    at += sizeof note + rounded(note.n_namesz) + rounded(note.n_descsz);
  }
}

Executable look_into(const MappedFile& file) {
  Executable found;
  const Segments segments(file);
  for (const Elf64_Phdr& segment : segments.all()) {
    found.is_elf = true;
    if (segment.p_type == PT_INTERP) found.linker = file.text(segment.p_offset);
    if (segment.p_type == PT_DYNAMIC) {
      found.is_library = true;
      add_dynamic(file, segments, segment, found);
    }
    if (segment.p_type == PT_NOTE) add_notes(file, segment, found);
  }
  if (!found.linker.empty()) found.is_library = false;
  return found;
}

}  // namespace

Executable look_into_executable(const std::string& path) { return look_into(MappedFile(path)); }

bool is_linker_of_glibc(const std::string& path) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::weakly_canonical(path, error);
  const std::string names[] = {std::filesystem::path(path).filename(), target.filename()};
  return std::any_of(std::begin(names), std::end(names), [](const std::string& name) {
    return name.starts_with("ld-linux") || name.starts_with("ld.so") || name.starts_with("ld64.so") ||
           name.starts_with("ld-2.");
  });
}

std::string why_no_openmp(const std::string& path) {
  const Executable executable = look_into_executable(path);
  if (!executable.is_elf) return "it, or what it has started, has opened no parallel region";
  const auto is_openmp = [](const std::string& library) {
    return library.starts_with("libgomp.so") || library.starts_with("libomp.so") || library.starts_with("libiomp5.so");
  };
  const auto found = std::find_if(executable.needed.begin(), executable.needed.end(), is_openmp);
  if (found != executable.needed.end()) {
    return "it is linked with " + *found + ", but has opened no parallel region and called nothing else of OpenMP";
  }
  return "it has opened no parallel region, and is linked with no runtime of OpenMP: weft has no part in such a "
         "program, "
         "which runs as it does without. If it is meant to use OpenMP, was it built with -fopenmp? perf shows threads "
         "of "
         "other kinds";
}

std::string way_past_libc(const std::string& path) {
  const MappedFile file(path);
  const Executable found = look_into(file);
  if (!found.is_elf) return {};
  if (std::find(found.notes.begin(), found.notes.end(), "Go") != found.notes.end()) {
    return "is a Go program, whose system calls do not go through the C library";
  }
  if (found.linker.empty()) return "is statically linked: nothing can be preloaded";
  if (!is_linker_of_glibc(found.linker)) return "is started by " + found.linker + ", which is not glibc's";
  const auto is_libc = [](const std::string& library) { return library.starts_with("libc.so"); };
  if (std::none_of(found.needed.begin(), found.needed.end(), is_libc)) {
    return "is not linked with the C library (libc.so.6): its system calls do not go through it";
  }
  // rustix makes system calls of its own, and says so in the places of its sources that its panics name. Put together
  // here, so that this program has no such text.
  const std::string of_rustix = std::string("/backend/linux") + "_raw/";
  if (file.all().find(of_rustix) != std::string_view::npos) {
    return "has Rust's rustix in it, whose system calls do not go through the C library";
  }
  return {};
}

}  // namespace weft::tools
