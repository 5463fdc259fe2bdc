// SPDX-License-Identifier: Apache-2.0
// What a study has found, as JSON and for people.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "study/constructs.h"
#include "timed/timed.h"

namespace weft::scale {

nlohmann::json report(const Timed& machine, const Construct& construct, int threads, const Outcome& outcome);
void print(const nlohmann::json& report);

}  // namespace weft::scale
