import type { Checked, Problem } from '../../model/accepted.ts';

/** Returns the value if no problem exists. */
export function checked<T>(value: T, problems: readonly Problem[]): Checked<T> {
  const [first, ...rest] = problems;
  return first === undefined ? { value } : { problems: [first, ...rest] };
}

const longestValue = 120;

/** Returns a problem in the form `field value what`; the value is shortened to 120 characters. */
export function unusable(field: string, value: unknown, what: string): Problem {
  const text = JSON.stringify(value) ?? 'undefined';
  const short = text.length > longestValue ? `${text.slice(0, longestValue)}…` : text;
  return { field, message: `${field} ${short} ${what}` };
}

/** Returns a problem without the secret value. */
export function unusableSecret(field: string, what: string): Problem {
  return { field, message: `${field} ${what}` };
}
