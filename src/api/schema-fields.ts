import * as z from 'zod';

/** An optional text with a maximum length, 253 unless given. */
export const text = (what: string, max = 253) => z.string().max(max).optional().describe(what);

/** An optional time in RFC 3339. */
export const time = (what: string) => z.string().max(64).optional().describe(`${what} (RFC 3339).`);
