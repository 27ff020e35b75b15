/** Names that a profile of NetworkManager is for: shell patterns, and those that it leaves out of them. */
export interface NamePatterns {
  readonly patterns: readonly string[];
  readonly except: readonly string[];
}

/**
 * Of the items of `match.interface-name`: `!` leaves out what has the name, `|` and `&` say whether one of several is
 * enough or all must match, a backslash ends these signs (nm-settings-nmcli(5)).
 */
export function namePatterns(items: readonly string[]): NamePatterns {
  const said = items.flatMap((item) => {
    const [, sign, not, name = ''] = /^([|&]?)(!?)\\*(.+)$/.exec(item.trim()) ?? [];
    return name ? [{ name, leavesOut: not === '!', enough: sign === '|' }] : [];
  });
  const wanted = said.filter(({ leavesOut }) => !leavesOut).map(({ name }) => name);
  // Whatever has not this one name is enough for it.
  const open = wanted.length === 0 || said.some(({ leavesOut, enough }) => leavesOut && enough);
  const except = said.filter(({ leavesOut, enough }) => leavesOut && !enough);
  return { patterns: open ? ['*'] : wanted, except: except.map(({ name }) => name) };
}
