import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { PassThrough, Writable } from 'node:stream';

/** JSON answers of `ip` by question; questions to `ip -6` begin with `-6`. */
export type RecordedAnswers = Readonly<Record<string, unknown>>;

/** Returns the `spawn` of an `ip -batch` that answers from a record: a snapshot cannot contain a child process. */
export function recordedIp(answers: RecordedAnswers) {
  return (_command: string, args: readonly string[]): ChildProcessWithoutNullStreams => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const family = args[0] === '-6' ? '-6 ' : '';
    const stdin = new Writable({
      write(lines: Buffer, _encoding, done) {
        for (const line of lines.toString().trimEnd().split('\n')) {
          stdout.write(`${JSON.stringify(answers[family + line] ?? [])}\n`);
        }
        done();
      },
      final(done) {
        stdout.end();
        stderr.end();
        done();
      },
    });
    const child = Object.assign(new EventEmitter(), { stdin, stdout, stderr });
    return child as unknown as ChildProcessWithoutNullStreams;
  };
}
