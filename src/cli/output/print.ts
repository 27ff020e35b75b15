import { stringify } from 'yaml';
import { type Report, reportObject } from '../report.ts';
import { coloured, hasColours } from './colour.ts';
import { printableLines } from './width.ts';

/**
 * Writes text to standard output, without the control characters in names and messages. A reader that closes the pipe,
 * such as `head`, ends the program quietly.
 */
export function print(text: string): void {
  const safe = printableLines(text);
  const shown = hasColours(process.stdout, process.env) ? coloured(safe) : safe;
  console.log(shown);
}

/** Ends the program without an error when the reader of the output is gone. */
export function endOnClosedPipe(): void {
  process.stdout.off('error', onError).on('error', onError);
}

function onError(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(process.exitCode ?? 0);
  throw error;
}

/** Returns the report as JSON or YAML. */
export function reportText(report: Report, form: 'json' | 'yaml'): string {
  const object = reportObject(report);
  return form === 'json' ? JSON.stringify(object, undefined, 2) : stringify(object).trimEnd();
}
