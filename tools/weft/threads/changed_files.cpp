// SPDX-License-Identifier: Apache-2.0
#include "threads/changed_files.h"

#include <cstring>
#include <fstream>
#include <functional>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

#include <elf.h>

#include "mapped_file.h"

namespace weft::tools::threads {

namespace {

// Reads at an offset in the file; false: that is not there.
using Read = std::function<bool(uint64_t offset, void* data, size_t size)>;

constexpr uint64_t kMostOfNotes = 1 << 16;
constexpr std::string_view kDeleted = " (deleted)";

uint64_t padded(uint64_t size) { return (size + 3) & ~uint64_t{3}; }

std::string build_id_in(const std::vector<char>& notes) {
  Elf64_Nhdr note{};
  for (uint64_t at = 0; at + sizeof note <= notes.size();) {
    std::memcpy(&note, notes.data() + at, sizeof note);
    const uint64_t name = at + sizeof note;
    const uint64_t text = name + padded(note.n_namesz);
    const uint64_t next = text + padded(note.n_descsz);
    if (next > notes.size()) break;
    const bool is_gnu =
        note.n_namesz == sizeof ELF_NOTE_GNU && std::memcmp(&notes[name], ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0;
    if (is_gnu && note.n_type == NT_GNU_BUILD_ID) return {notes.data() + text, note.n_descsz};
    at = next;
  }
  return {};
}

// None: it is no ELF file, has no build id, or cannot be read.
std::optional<std::string> build_id(const Read& read) {
  Elf64_Ehdr header{};
  if (!read(0, &header, sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr entry{};
    if (!read(header.e_phoff + i * sizeof entry, &entry, sizeof entry)) return std::nullopt;
    if (entry.p_type != PT_NOTE || entry.p_filesz > kMostOfNotes) continue;
    std::vector<char> notes(entry.p_filesz);
    if (!read(entry.p_offset, notes.data(), notes.size())) continue;
    if (std::string found = build_id_in(notes); !found.empty()) return found;
  }
  return std::nullopt;
}

std::optional<std::string> build_id_of_file(const std::string& path) {
  const MappedFile file(path);
  return build_id([&file](uint64_t offset, void* data, size_t size) {
    const std::string_view found = file.part(offset, size);
    if (found.size() != size) return false;
    std::memcpy(data, found.data(), size);
    return true;
  });
}

}  // namespace

std::vector<std::string> changed_files(Inspector& process) {
  std::vector<std::string> changed;
  std::set<std::string> seen;
  std::ifstream maps(process.maps_file());
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    uint64_t begin = 0;
    uint64_t offset = 0;
    std::string rest;
    words >> std::hex >> begin >> rest >> rest >> offset >> rest >> rest;
    std::getline(words >> std::ws, rest);
    // The beginning of a file lies in its first part.
    if (!rest.starts_with('/') || offset != 0 || !seen.insert(rest).second) continue;
    const std::string path = rest.ends_with(kDeleted) ? rest.substr(0, rest.size() - kDeleted.size()) : rest;
    const auto mapped =
        build_id([&](uint64_t at, void* data, size_t size) { return process.read(begin + at, data, size); });
    if (!mapped) continue;
    // A process in a container has other files by the same names.
    const std::string root = process.is_live() ? "/proc/" + std::to_string(process.process()) + "/root" : "";
    const auto there = build_id_of_file(root + path);
    if (there && *there != *mapped) changed.push_back(path);
  }
  return changed;
}

}  // namespace weft::tools::threads
