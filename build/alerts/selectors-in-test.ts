/** Metric selector in an expression. */
export interface Selector {
  readonly metric: string;
  /** Label matchers with their values as written, quotes included. */
  readonly matchers: ReadonlyMap<string, string>;
}

const keywords = new Set('and by group_left group_right ignoring on or unless without'.split(' '));

/** Returns the metric selectors in an expression. Supports the expressions in this folder, not all of PromQL. */
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
