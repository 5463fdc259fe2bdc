// SPDX-License-Identifier: Apache-2.0
// `weft info`: what weft sees on this machine and would do.
#pragma once

namespace weft::tools {

// Writes it to stdout, for people or as JSON; returns the exit code.
int info(bool json);

}  // namespace weft::tools
