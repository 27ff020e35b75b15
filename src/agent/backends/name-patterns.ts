/** Names a NetworkManager profile applies to: shell patterns, and excluded names. */
export interface NamePatterns {
  readonly patterns: readonly string[];
  readonly except: readonly string[];
}

/**
 * Parses `match.interface-name` items: `!` excludes a name, `|` and `&` mean any or all must match, and a backslash
 * ends these signs (nm-settings-nmcli(5)).
 */
export function namePatterns(items: readonly string[]): NamePatterns {
  const parsed = items.flatMap((item) => {
    const [, sign, not, name = ''] = /^([|&]?)(!?)\\*(.+)$/.exec(item.trim()) ?? [];
    return name ? [{ name, leavesOut: not === '!', enough: sign === '|' }] : [];
  });
  const wanted = parsed.filter(({ leavesOut }) => !leavesOut).map(({ name }) => name);
  // An item `|!name` accepts every other name.
  const open = wanted.length === 0 || parsed.some(({ leavesOut, enough }) => leavesOut && enough);
  const except = parsed.filter(({ leavesOut, enough }) => leavesOut && !enough);
  return { patterns: open ? ['*'] : wanted, except: except.map(({ name }) => name) };
}
