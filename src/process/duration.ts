const unitMs = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/**
 * Parses a Go duration such as `30s`, `2m`, `1h30m` or `1.5s` (the form for all durations in our kinds and settings).
 * Returns milliseconds; undefined: not a duration.
 */
export function parseDuration(text: string): number | undefined {
  const match = /^([+-]?)((?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+|0)$/.exec(text.trim());
  if (!match) return undefined;
  let total = 0;
  for (const [, digits, unit] of (match[2] ?? '').matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)) {
    total += Number(digits) * unitMs[unit as keyof typeof unitMs];
  }
  return match[1] === '-' ? -total : total;
}
