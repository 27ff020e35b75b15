const pattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(Z|[+-]\d{2}:\d{2})?$/;

/**
 * Milliseconds since 1970 of a time as Neutron writes it: RFC 3339 with `Z` or an offset, or without a zone, which is
 * UTC. Undefined for anything else: no seconds, a blank for the T, lower case, an offset without a colon.
 */
export function parseTime(text: string): number | undefined {
  const match = pattern.exec(text.trim());
  if (!match) return undefined;
  const ms = Date.parse(match[1] === undefined ? `${match[0]}Z` : match[0]);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Whether a port of this age is taken; one whose age is unknown is not. */
export function isAfterBaseline(createdAt: string | undefined, baseline: string | undefined) {
  if (baseline === undefined) return true;
  const created = createdAt === undefined ? undefined : parseTime(createdAt);
  const limit = parseTime(baseline);
  return created !== undefined && limit !== undefined && created >= limit;
}
