import { expect, it, vi } from 'vitest';
import type { Session } from '../../session/access/session.ts';
import type { CommonOptions } from '../options.ts';
import { type List, printList } from './list.ts';

const list: List<{ readonly name: string; readonly state: string }> = {
  kind: 'NicList',
  columns: [
    { title: 'NIC', cell: ({ name }) => name },
    { title: 'STATE', cell: ({ state }) => state },
  ],
  name: ({ name }) => name,
  object: (row) => row,
  empty: 'none',
};
const options = { output: 'table', headers: false, watch: true } as CommonOptions & { watch: true };

/** Runs --watch over the states of one NIC, then ends it as Ctrl-C does. */
async function watched(states: readonly string[]): Promise<string[]> {
  const out: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((text: string) => void out.push(text));
  const left = [...states];
  const sleep = () => (left.length > 0 ? Promise.resolve() : Promise.reject(new Error('end')));
  const session = { clock: { sleep } } as unknown as Session;
  const read = () => Promise.resolve({ rows: [{ name: 'multinic0', state: left.shift() ?? '' }] });
  try {
    await printList({ session }, list, options, read);
  } catch {
    return out;
  } finally {
    log.mockRestore();
  }
  return out;
}

it('--watch prints a NIC again when the NIC returns to an earlier state', async () => {
  expect(await watched(['Configured', 'Failed', 'Failed', 'Configured'])).toEqual([
    'multinic0  Configured',
    'multinic0  Failed',
    'multinic0  Configured',
  ]);
});

it('names write no escape sequence to a terminal in JSON, YAML and tables', async () => {
  const out: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((text: string) => void out.push(text));
  const state = 'a\u001b[2Jb\u009b2Jc\u202ed\u{e0001}';
  for (const output of ['table', 'json', 'yaml'] as const) {
    const once = { ...options, output, watch: false };
    await printList({ session: {} as Session }, list, once, () =>
      Promise.resolve({ rows: [{ name: 'x', state }] }),
    );
  }
  log.mockRestore();
  expect(out.join('\n')).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u);
  const { items } = JSON.parse(out[1] ?? '') as { items: unknown[] };
  expect(items).toEqual([{ name: 'x', state }]);
});
