export const shells = ['bash', 'zsh', 'fish'] as const;

type Words = ReadonlyMap<string, readonly string[]>;

/** Completion scripts by shell: commands with options. */
export const scripts: Readonly<Record<(typeof shells)[number], (words: Words) => string>> = {
  bash,
  zsh,
  fish,
};

function bash(words: Words): string {
  const cases = [...words].map(([name, options]) => `    ${name}) words='${options.join(' ')}' ;;`);
  return `# bash completion of multinic: source <(multinic completion bash)
_multinic() {
  local current=\${COMP_WORDS[COMP_CWORD]} words
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
    *) words='${[...words.keys()].join(' ')}' ;;
  esac
  [ "$COMP_CWORD" -eq 1 ] && words='${[...words.keys()].join(' ')}'
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -F _multinic multinic`;
}

function zsh(words: Words): string {
  const cases = [...words].map(
    ([name, options]) => `    ${name}) compadd -- ${options.join(' ')} ;;`,
  );
  return `#compdef multinic
# zsh completion of multinic: source <(multinic completion zsh), or a file _multinic in a folder of fpath
_multinic() {
  if (( CURRENT == 2 )); then
    compadd -- ${[...words.keys()].join(' ')}
    return
  fi
  case $words[2] in
${cases.join('\n')}
  esac
}
# As a file in fpath, the script runs when zsh calls _multinic for the first time.
if [[ $funcstack[1] == _multinic ]]; then
  _multinic "$@"
else
  compdef _multinic multinic
fi`;
}

function fish(words: Words): string {
  const lines = [...words].flatMap(([name, options]) => [
    `complete -c multinic -n __fish_use_subcommand -a ${name}`,
    ...options.map((word) =>
      word.startsWith('--')
        ? `complete -c multinic -n '__fish_seen_subcommand_from ${name}' -l ${word.slice(2)}`
        : `complete -c multinic -n '__fish_seen_subcommand_from ${name}' -a ${word}`,
    ),
  ]);
  return `# fish completion of multinic: multinic completion fish | source\ncomplete -c multinic -f\n${lines.join('\n')}`;
}

/** Cobra's directive: no file names (ShellCompDirectiveNoFileComp). */
const noFiles = ':4';

/** Returns candidates for the last word, in kubectl's form for plugins. */
export function candidates(known: Words, given: readonly string[]): string {
  const [command = ''] = given;
  const last = given.at(-1) ?? '';
  const all = given.length <= 1 ? [...known.keys()] : (known.get(command) ?? []);
  return [...all.filter((word) => word.startsWith(last)), noFiles].join('\n');
}
