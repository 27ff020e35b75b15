import * as z from 'zod';

/** Comma-separated texts; surrounding blanks and empty texts are dropped. */
export function textList() {
  return z.string().transform((text) => text.split(',').flatMap((item) => item.trim() || []));
}
