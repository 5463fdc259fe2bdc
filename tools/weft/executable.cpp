// SPDX-License-Identifier: Apache-2.0
#include "executable.h"

#include <algorithm>
#include <cstring>
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

void add_needed(const MappedFile& file, const Segments& segments, const Elf64_Phdr& dynamic, Executable& found) {
  uint64_t strings = file.all().size();
  std::vector<uint64_t> names;
  for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic.p_filesz; at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry{};
    if (!file.read(dynamic.p_offset + at, entry) || entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_STRTAB) strings = segments.offset_of(entry.d_un.d_ptr);
    if (entry.d_tag == DT_NEEDED) names.push_back(entry.d_un.d_val);
    if (entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_PIE) != 0) found.is_library = false;
  }
  for (const uint64_t name : names) found.needed.push_back(file.text(strings + name));
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
    if (segment.p_type == PT_INTERP) found.has_linker = true;
    if (segment.p_type == PT_DYNAMIC) {
      found.is_library = true;
      add_needed(file, segments, segment, found);
    }
    if (segment.p_type == PT_NOTE) add_notes(file, segment, found);
  }
  if (found.has_linker) found.is_library = false;
  return found;
}

}  // namespace

Executable look_into_executable(const std::string& path) { return look_into(MappedFile(path)); }

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
  if (!found.has_linker) return "is statically linked: nothing can be preloaded";
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
