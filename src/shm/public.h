// SPDX-License-Identifier: Apache-2.0
// A function that programs call; weft-shm.map lists them all.
#pragma once

#define WEFT_PUBLIC extern "C" [[gnu::visibility("default")]]
