// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include "pages/completions.h"

namespace weft::tools {

namespace {

constexpr char kHead[] =
    R"(# Completion of weft for bash. Made from the definitions of the command line.
)";

// What does not depend on the commands. COMP_WORDBREAKS has the equals sign, so that --mode=static is three words.
constexpr char kFunction[] = R"BASH(
_weft() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} path=weft program=0 i word
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = ]]; then
    prev=${COMP_WORDS[COMP_CWORD-2]}
  fi
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [[ $word == -- ]]; then
      program=$((i + 1))
      break
    elif [[ $word == -* ]]; then
      if [[ ${COMP_WORDS[i+1]} == = ]]; then
        ((i += 2))
      elif [[ -n $(_weft_values "$path" "$word") ]]; then
        ((++i))
      fi
    elif [[ " $(_weft_commands "$path") " == *" $word "* ]]; then
      path+=" $word"
    else
      program=$i
      break
    fi
  done
  local values
  values=$(_weft_values "$path" "$prev")
  if ((program == 0)) && [[ -n $values ]]; then
    case $values in
      @file) _weft_files "$cur" ;;
      @any) ;;
      *) mapfile -t COMPREPLY < <(compgen -W "$values" -- "$cur") ;;
    esac
  elif ((program == 0)) && [[ $cur == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_weft_options "$path")" -- "$cur")
  elif _weft_takes_program "$path"; then
    ((program != 0)) || program=$COMP_CWORD
    if declare -F _command_offset >/dev/null; then
      _command_offset "$program"
    elif ((program == COMP_CWORD)); then
      mapfile -t COMPREPLY < <(compgen -c -- "$cur"; compgen -f -- "$cur")
    else
      _weft_files "$cur"
    fi
  elif ((program == 0)); then
    mapfile -t COMPREPLY < <(compgen -W "$(_weft_commands "$path")" -- "$cur")
  fi
}

_weft_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

complete -F _weft weft
)BASH";

std::string commands_case(const CommandModel& command) {
  std::string words;
  for (const CommandModel& below : command.commands) words += (words.empty() ? "" : " ") + below.name();
  return words.empty() ? "" : "    '" + command.path + "') echo '" + words + "' ;;\n";
}

std::string options_case(const CommandModel& command) {
  std::string words;
  for (const OptionModel& option : command.options) {
    for (const std::string& name : option.names) words += (words.empty() ? "" : " ") + name;
  }
  return "    '" + command.path + "') echo '" + words + "' ;;\n";
}

// Of each option with a value: the values there are, @file or @any.
std::string values_cases(const CommandModel& command) {
  std::string cases;
  for (const OptionModel& option : command.options) {
    if (option.value.empty()) continue;
    std::string values = option.is_file ? "@file" : "";
    for (const std::string& choice : option.choices) values += (values.empty() ? "" : " ") + choice;
    std::string pattern;
    for (const std::string& name : option.names) {
      pattern.append(pattern.empty() ? "'" : " | '").append(command.path).append(" ").append(name).append("'");
    }
    cases += "    " + pattern + ") echo '" + (values.empty() ? "@any" : values) + "' ;;\n";
  }
  return cases;
}

std::string program_case(const CommandModel& command) {
  return command.takes_program ? "    '" + command.path + "') return 0 ;;\n" : "";
}

void print_function(std::ostream& out, const CommandModel& root, const char* name, const char* subject,
                    std::string (*cases)(const CommandModel&), const char* otherwise) {
  out << '\n' << name << "() {\n  case " << subject << " in\n";
  each_command(root, [&](const CommandModel& command) { out << cases(command); });
  out << otherwise << "  esac\n}\n";
}

}  // namespace

std::string bash_completion(const CommandModel& root) {
  std::ostringstream out;
  out << kHead;
  print_function(out, root, "_weft_commands", "$1", commands_case, "");
  print_function(out, root, "_weft_options", "$1", options_case, "");
  print_function(out, root, "_weft_values", "\"$1 $2\"", values_cases, "");
  print_function(out, root, "_weft_takes_program", "$1", program_case, "    *) return 1 ;;\n");
  out << kFunction;
  return out.str();
}

}  // namespace weft::tools
