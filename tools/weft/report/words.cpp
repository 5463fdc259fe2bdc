// SPDX-License-Identifier: Apache-2.0
#include "report/words.h"

#include <algorithm>

namespace weft::tools::report {

const char* word_of(Loss loss) {
  switch (loss) {
    case Loss::serial: return "serial";
    case Loss::imbalance: return "imbalance";
    case Loss::synchronisation: return "synchronisation";
    case Loss::overhead: return "overhead";
    case Loss::few_threads: return "few_threads";
    case Loss::transfer: return "transfer";
    case Loss::blocked: return "blocked";
  }
  return "?";
}

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

const char* word_of(SiteKind kind) {
  switch (kind) {
    case SiteKind::program: return "program";
    case SiteKind::serial: return "serial";
    case SiteKind::region: return "region";
    case SiteKind::loop: return "loop";
    case SiteKind::sections: return "sections";
    case SiteKind::single: return "single";
    case SiteKind::masked: return "masked";
    case SiteKind::taskloop: return "taskloop";
    case SiteKind::task: return "task";
    case SiteKind::barrier: return "barrier";
    case SiteKind::critical: return "critical";
    case SiteKind::lock: return "lock";
    case SiteKind::ordered: return "ordered";
    case SiteKind::call: return "call";
  }
  return "?";
}

}  // namespace weft::tools::report
