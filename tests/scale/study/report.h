// SPDX-License-Identifier: Apache-2.0
// What a study has found, as JSON and for people.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "machine/machine.h"
#include "study/constructs.h"

namespace weft::scale {

nlohmann::json report(const machine::Machine& machine, const Construct& construct, int threads, const Outcome& outcome);
void print(const nlohmann::json& report);

}  // namespace weft::scale
