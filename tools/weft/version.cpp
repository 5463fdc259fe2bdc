// SPDX-License-Identifier: Apache-2.0
// A file of its own, since it is compiled again for each commit.
#include "version.h"

#include "weft_version.h"

namespace weft::tools {

const char* const kVersion = WEFT_VERSION;
const char* const kCommit = WEFT_COMMIT;
const char* const kWholeVersion = WEFT_WHOLE_VERSION;

}  // namespace weft::tools
