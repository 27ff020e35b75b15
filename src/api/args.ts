/** Limit in bytes for `args`. */
const maxArgs = 60;

/** Returns the values in a message as pairs `key=value`, separated by spaces; omits values beyond the limit. */
export function argsText(values: Readonly<Record<string, string | number>>): string {
  let args = '';
  for (const [key, value] of Object.entries(values)) {
    const longer = `${args}${args && ' '}${key}=${String(value).replaceAll(/\s+/g, '_')}`;
    if (Buffer.byteLength(longer) <= maxArgs) args = longer;
  }
  return args;
}

/** Returns the pairs `key=value` in `args`. */
export function argsOf(args: string | undefined): Readonly<Record<string, string>> {
  const pairs = (args ?? '').split(' ').map((pair) => {
    const at = pair.indexOf('=');
    return [pair.slice(0, Math.max(at, 0)), pair.slice(at + 1)] as const;
  });
  return Object.fromEntries(pairs.filter(([key]) => key !== ''));
}
