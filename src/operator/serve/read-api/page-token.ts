import * as z from 'zod';
import { HttpProblem } from '../../../http/problem.ts';

const keySchema = z.array(z.string()).max(8);

/** Items on a page, and the next page's token; undefined: last page. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | undefined;
}

/** Items per page without `limit`. */
const usualLimit = 250;

/** Returns a page, ordered by key, after the token's item. Throws 400 for a foreign token. */
export function pageOf<T>(
  items: readonly T[],
  keyOf: (item: T) => readonly string[],
  {
    limit = usualLimit,
    continue: token,
  }: { readonly limit?: number | undefined; readonly continue?: string | undefined },
): Page<T> {
  const after = token === undefined ? undefined : keyIn(token);
  const rest = items
    .map((item) => ({ item, key: keyOf(item) }))
    .filter(({ key }) => after === undefined || compare(key, after) > 0)
    .toSorted((a, b) => compare(a.key, b.key));
  const page = rest.slice(0, limit);
  const last = rest.length > limit ? page.at(-1) : undefined;
  return { items: page.map(({ item }) => item), next: last && tokenOf(last.key) };
}

function compare(a: readonly string[], b: readonly string[]): number {
  for (const [at, text] of a.entries()) {
    const other = b[at] ?? '';
    if (text !== other) return text < other ? -1 : 1;
  }
  return 0;
}

function tokenOf(key: readonly string[]): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

function keyIn(token: string): readonly string[] {
  try {
    return keySchema.parse(JSON.parse(Buffer.from(token, 'base64url').toString('utf8')));
  } catch (cause) {
    if (!(cause instanceof SyntaxError || cause instanceof z.ZodError)) throw cause;
    const detail = `continue: "${token}" is not a value of continue in an answer; start without it`;
    throw new HttpProblem(400, 'InvalidRequest', detail, { cause });
  }
}
