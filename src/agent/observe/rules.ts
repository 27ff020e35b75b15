import * as z from 'zod';
import type { Rule } from '../host.ts';

/** One entry of `ip -N -j -d rule show`; keys beyond these select or do more and make a rule opaque. */
const ruleEntry = z.looseObject({
  priority: z.int(),
  src: z.string(),
  srclen: z.int().optional(),
  table: z.coerce.number().optional(),
  protocol: z.coerce.number().default(0),
});

const ruleShow = z.array(ruleEntry);
const known = new Set(Object.keys(ruleEntry.shape));

/** IPv4 policy rules of `ip -N -j -d rule show`; throws a ZodError on any other text. */
export function parseRules(json: string): Rule[] {
  return ruleShow.parse(JSON.parse(json)).map((entry) => ({
    priority: entry.priority,
    from: source(entry),
    ...(entry.table === undefined ? {} : { table: entry.table }),
    protocol: entry.protocol,
    opaque: Object.keys(entry).some((key) => !known.has(key)),
  }));
}

function source({ src, srclen = 32 }: z.infer<typeof ruleEntry>): string {
  return src === 'all' ? src : `${src}/${srclen}`;
}
