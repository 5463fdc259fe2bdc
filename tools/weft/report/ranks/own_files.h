// SPDX-License-Identifier: Apache-2.0
// Files in a folder that lies where others may write, such as /tmp. Nothing here follows a link, waits for a pipe or
// takes a folder of somebody else.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace weft::tools {

// Whether it is a folder of this user that no other may write. False with errno 0: it is there and is not.
bool is_own_folder(const std::filesystem::path& folder);

// False: errno says why, or is_own_folder() does. One that is there will do.
bool make_own_folder(const std::filesystem::path& folder);

// In place at once. False: errno says why, and nothing is left of it.
bool put_file(const std::filesystem::path& file, const std::string& text);

// Of a plain file; empty: there is none. `line`: the first line at most.
std::string text_in(const std::filesystem::path& file, bool line = false);

// When it was written, by the clock of the file system, in nanoseconds; 0: there is no such file.
int64_t time_of(const std::filesystem::path& file);

bool is_there(const std::filesystem::path& file);

void remove_folder(const std::filesystem::path& folder);

}  // namespace weft::tools
