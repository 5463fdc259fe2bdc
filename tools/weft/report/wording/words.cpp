// SPDX-License-Identifier: Apache-2.0
#include "report/wording/words.h"

#include <algorithm>

namespace weft::tools::report {

std::string plain_word_of(Loss loss) {
  std::string word = word_of(loss);
  std::replace(word.begin(), word.end(), '_', ' ');
  return word;
}

const char* meaning_of(Loss loss) {
  switch (loss) {
    case Loss::serial: return "no more than one thread had something to do";
    case Loss::imbalance: return "threads waited for others that still worked";
    case Loss::synchronisation: return "threads waited for locks and critical regions";
    case Loss::overhead: return "in the OpenMP runtime";
    case Loss::few_threads: return "regions had fewer threads than CPUs";
    case Loss::transfer: return "messages of other processes were awaited";
    case Loss::blocked: return "threads slept, or others had their CPU";
  }
  return "";
}

}  // namespace weft::tools::report
