/** One metric as an expression selects it. */
export interface Selector {
  readonly metric: string;
  /** Labels that it is selected by, with what they must be; as written, quotes included. */
  readonly matchers: ReadonlyMap<string, string>;
}

const keywords = new Set('and by group_left group_right ignoring on or unless without'.split(' '));

/** The metrics that an expression names. For the expressions of this folder, not for all of PromQL. */
export function selectorsIn(expr: string): readonly Selector[] {
  const bare = expr
    .replaceAll(/\b(by|ignoring|on|without|group_left|group_right) \([^)]*\)/g, ' ')
    .replaceAll(/\[[^\]]*\]/g, ' ');
  const named = /([a-zA-Z_:][\w:]*)\s*(\(|\{([^}]*)\})?/g;
  const unquoted = (at: number): boolean => (bare.slice(0, at).match(/"/g) ?? []).length % 2 === 0;
  return [...bare.matchAll(named)].flatMap(([, name = '', next = '', inner = ''], at, all) => {
    const { index } = all[at] as RegExpExecArray;
    const isDuration = /[\d.]/.test(bare[index - 1] ?? '');
    if (next === '(' || keywords.has(name) || isDuration || !unquoted(index)) return [];
    const pairs = [...inner.matchAll(/(\w+)\s*(?:=~|!=|!~|=)\s*("[^"]*")/g)];
    return [
      {
        metric: name,
        matchers: new Map(pairs.map(([, label = '', value = '']) => [label, value])),
      },
    ];
  });
}
