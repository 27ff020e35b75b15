import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lines } from './lines.ts';

async function collect(chunks: Iterable<Buffer>): Promise<readonly string[]> {
  async function* body() {
    yield* chunks;
  }
  const collected: string[] = [];
  for await (const line of lines(body(), 'reading')) collected.push(line);
  return collected;
}

describe('lines', () => {
  test('lines returns equal lines for any chunk boundaries', async () => {
    const text = fc.string({ unit: 'grapheme' }).map((value) => value.replaceAll('\n', ' '));
    await fc.assert(
      fc.asyncProperty(fc.array(text), fc.array(fc.nat(40)), async (wanted, cuts) => {
        const bytes = Buffer.from(wanted.map((each) => `${each}\n`).join(''));
        const chunks: Buffer[] = [];
        let from = 0;
        for (const cut of cuts) {
          chunks.push(bytes.subarray(from, from + cut));
          from += cut;
        }
        chunks.push(bytes.subarray(from));
        expect(await collect(chunks)).toEqual(wanted);
      }),
    );
  });

  test('lines throws when the last line is incomplete', async () => {
    await expect(collect([Buffer.from('{"a":1}\n{"b"')])).rejects.toThrow('within a line');
  });

  test('lines throws on non-UTF-8 bytes', async () => {
    await expect(collect([Buffer.from([0xff, 0x0a])])).rejects.toThrow('not UTF-8');
  });

  test('lines throws on a line above the limit', async () => {
    const megabyte = Buffer.alloc(1024 * 1024, 'x');
    await expect(collect(Array.from({ length: 9 }, () => megabyte))).rejects.toThrow('longer than');
  });
});
