import { cronSchedule } from '../../../triggers/schedule.ts';

interface Range {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly words?: readonly string[];
}

const months = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ');
const days = 'SUN MON TUE WED THU FRI SAT'.split(' ');

const ranges: readonly Range[] = [
  { name: 'minute', from: 0, to: 59 },
  { name: 'hour', from: 0, to: 23 },
  { name: 'day of month', from: 1, to: 31 },
  { name: 'month', from: 1, to: 12, words: months },
  { name: 'day of week', from: 0, to: 6, words: days },
];

/**
 * Returns why a CronJob schedule is invalid; undefined: valid. Kubernetes accepts less than croner: no `L`, `W` or `#`,
 * and no 7 for Sunday.
 */
export function whyNoSchedule(text: string): string | undefined {
  const fields = text.trim().split(/\s+/);
  if (fields.length !== ranges.length) return 'a schedule has five fields';
  for (const [at, range] of ranges.entries()) {
    const field = fields[at] ?? '';
    if (!field.split(',').every((item) => isItem(item, range))) {
      return `${range.name} ${field} is not within ${range.from}-${range.to}`;
    }
  }
  try {
    cronSchedule(fields.join(' '), 'UTC');
    return undefined;
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause);
  }
}

function isItem(item: string, range: Range): boolean {
  const [span = '', step = '1', ...more] = item.split('/');
  if (more.length > 0 || !/^\d{1,4}$/.test(step) || Number(step) < 1) return false;
  return span === '*' || span === '?' || isSpan(span, range);
}

/** Kubernetes rejects a range whose end is before its start. */
function isSpan(span: string, range: Range): boolean {
  const [first = '', last = first, ...more] = span.split('-');
  const from = valueOf(first, range);
  const to = valueOf(last, range);
  return more.length === 0 && from !== undefined && to !== undefined && from <= to;
}

function valueOf(word: string, { from, to, words = [] }: Range): number | undefined {
  const named = words.indexOf(word.toUpperCase());
  if (named !== -1) return named + from;
  const value = /^\d{1,2}$/.test(word) ? Number(word) : Number.NaN;
  return value >= from && value <= to ? value : undefined;
}
