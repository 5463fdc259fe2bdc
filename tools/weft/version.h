// SPDX-License-Identifier: Apache-2.0
// Which weft this is.
#pragma once

namespace weft::tools {

extern const char* const kVersion;       // X.Y.Z
extern const char* const kCommit;        // empty: it is not known
extern const char* const kWholeVersion;  // X.Y.Z (COMMIT)

}  // namespace weft::tools
