import * as z from 'zod';

/** Comma-separated texts; blanks around them and empty ones are dropped. */
export function textList() {
  return z.string().transform((text) => text.split(',').flatMap((item) => item.trim() || []));
}
