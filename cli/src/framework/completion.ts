import type { CommandDescription } from './command.ts';
import { GLOBAL_OPTIONS } from './global-options.ts';

/** A static script that completes commands, options and choices without starting this program. */
export function completionScript(shell: 'bash' | 'zsh', commands: readonly CommandDescription[]): string {
  return shell === 'bash' ? bash(commands) : zsh(commands);
}

/** Candidates by prefix: first words, second words per first word, and choices of the first argument. */
function nextWords(commands: readonly CommandDescription[]): Map<string, string[]> {
  const names = commands.map(({ name }) => name.split(' '));
  const firsts = [...new Set([...names.map(([first = '']) => first), 'help'])].sort();
  const after = new Map<string, string[]>([['', firsts]]);
  for (const first of firsts) {
    const seconds = names.flatMap(([own, second]) => (own === first && second !== undefined ? [second] : []));
    if (seconds.length > 0) after.set(first, [...new Set(seconds)].sort());
  }
  for (const { name, args } of commands)
    for (const arg of args.slice(0, 1)) if (arg.choices) after.set(name, [...arg.choices]);
  return after;
}

/** Choices of option values, by command and option. */
function choicesByOption(commands: readonly CommandDescription[]): Map<string, readonly string[]> {
  return new Map(
    commands.flatMap(({ name, options }) =>
      options.flatMap((option) =>
        option.choices ? [[`${name} --${option.name}`, option.choices] as const] : [],
      ),
    ),
  );
}

/** Options that take a value: the word after one is not a command. */
function optionsWithValues(commands: readonly CommandDescription[]): string[] {
  const all = [...GLOBAL_OPTIONS, ...commands.flatMap(({ options }) => options)];
  return [...new Set(all.filter(({ value }) => value !== null).map(({ name }) => `--${name}`))].sort();
}

function optionNames(command: CommandDescription): string[] {
  return [...new Set([...command.options, ...GLOBAL_OPTIONS].map(({ name }) => `--${name}`))];
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

const cases = (entries: Iterable<readonly [string, readonly string[]]>) =>
  [...entries].map(([on, words]) => `    ${quoted(on)}) echo ${quoted(words.join(' '))} ;;`).join('\n');

/** Lookup functions shared by both shells. */
function lookups(commands: readonly CommandDescription[]): string {
  return `_caudal_words() {
  case "$1" in
${cases(nextWords(commands))}
  esac
}
_caudal_options() {
  case "$1" in
${cases(commands.map((command) => [command.name, optionNames(command)] as const))}
    *) echo ${quoted(GLOBAL_OPTIONS.map(({ name }) => `--${name}`).join(' '))} ;;
  esac
}
_caudal_choices() {
  case "$1" in
${cases(choicesByOption(commands))}
  esac
}
_caudal_takes_value() {
  case " ${optionsWithValues(commands).join(' ')} " in
    *" $1 "*) return 0 ;;
  esac
  return 1
}`;
}

/** Finds the command name in the typed words: at most two words, without option values and a leading \`help\`. */
const PATH = `  local path='' count=0 skip='' word
  for word in "$@"; do
    if [ -n "$skip" ]; then skip=''; continue; fi
    case "$word" in
      --*=*) ;;
      -*) if _caudal_takes_value "$word"; then skip=1; fi ;;
      help) if [ "$count" -gt 0 ]; then count=$((count + 1)); fi ;;
      *) count=$((count + 1)); if [ "$count" -le 2 ]; then if [ -n "$path" ]; then path="$path $word"; else path="$word"; fi; fi ;;
    esac
  done
  if [ "$count" -gt 2 ]; then echo "$path"; echo more; else echo "$path"; echo; fi`;

function bash(commands: readonly CommandDescription[]): string {
  return `# Completion of caudal for bash: source <(caudal completion bash)
${lookups(commands)}
_caudal_path() {
${PATH}
}
_caudal() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" path more words
  { read -r path; read -r more; } < <(_caudal_path "\${COMP_WORDS[@]:1:COMP_CWORD-1}")
  COMPREPLY=()
  case "$before" in
    -*)
      if _caudal_takes_value "$before"; then
        words="$(_caudal_choices "$path $before")"
        if [ -n "$words" ]; then COMPREPLY=($(compgen -W "$words" -- "$current")); else COMPREPLY=($(compgen -f -- "$current")); fi
        return
      fi ;;
  esac
  case "$current" in
    -*) words="$(_caudal_options "$path")" ;;
    *) if [ -z "$more" ]; then words="$(_caudal_words "$path")"; fi ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _caudal caudal`;
}

function zsh(commands: readonly CommandDescription[]): string {
  const described = commands
    .map(({ name, summary }) => `    ${quoted(name)}) echo ${quoted(summary)} ;;`)
    .join('\n');
  return `#compdef caudal
# Completion of caudal for zsh: source <(caudal completion zsh)
${lookups(commands)}
_caudal_summary() {
  case "$1" in
${described}
  esac
}
_caudal_path() {
${PATH}
}
_caudal() {
  local current="\${words[CURRENT]}" before="\${words[CURRENT-1]}" path_words more candidates word name
  local -a lines described
  lines=("\${(@f)$(_caudal_path "\${(@)words[2,CURRENT-1]}")}")
  path_words="\${lines[1]}" more="\${lines[2]}"
  if [[ "$before" == -* ]] && _caudal_takes_value "$before"; then
    candidates="$(_caudal_choices "$path_words $before")"
    if [[ -n "$candidates" ]]; then compadd -- \${=candidates}; else _files; fi
    return
  fi
  if [[ "$current" == -* ]]; then
    compadd -- \${=$(_caudal_options "$path_words")}
    return
  fi
  [[ -n "$more" ]] && return
  for word in \${=$(_caudal_words "$path_words")}; do
    name="\${path_words:+$path_words }$word"
    described+=("\${word}:$(_caudal_summary "$name")")
  done
  _describe 'command' described
}
if (( ! \${+functions[compdef]} )); then autoload -Uz compinit && compinit; fi
compdef _caudal caudal`;
}
