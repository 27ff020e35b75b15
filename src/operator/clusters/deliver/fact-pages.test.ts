import { expect, it } from 'vitest';
import { RequestError } from '../../../requests/request-error.ts';
import type { HttpAnswer } from '../../../requests/transport.ts';
import { FactPages } from './fact-pages.ts';

/** Returns a fake Viola with `count` nodes in pages of 200; an unchanged page is a 304. */
function violaWith(count: number) {
  const generations = Array.from({ length: count }, () => 1);
  const answered: number[] = [];
  let expired = false;
  const send = async (
    path: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<HttpAnswer> => {
    const from = Number(new URL(path, 'http://viola').searchParams.get('continue') ?? 0);
    if (expired && from > 0) {
      expired = false;
      const details = { service: 'viola', kind: 'gone', code: 'ContinueExpired' };
      throw new RequestError('expired', details as never);
    }
    const items = generations.slice(from, from + 200).map((generation, at) => ({
      nodeName: `node-${from + at}`,
      uid: `uid-${from + at}`,
      generation,
      spec: { nodeName: `node-${from + at}` },
    }));
    const next = from + 200 < count ? String(from + 200) : '';
    const etag = `"${JSON.stringify(items).length} ${items.map((one) => one.generation).join('')}"`;
    const isSame = headers['if-none-match'] === etag;
    const status = isSame ? 304 : 200;
    answered.push(status);
    const body = { items, observedAt: '2026-01-01T00:00:00Z', ...(next ? { continue: next } : {}) };
    const text = isSame ? '' : JSON.stringify(body);
    return { status, text, headers: { etag, 'x-continue': next } };
  };
  const pages = new FactPages();
  return {
    generations,
    expire: () => {
      expired = true;
    },
    /** Reads the list; returns the status codes, too. */
    read: async () => {
      answered.length = 0;
      return { facts: await pages.read(send, () => new Date()), answered: [...answered] };
    },
  };
}

it('FactPages reads 10,000 unchanged nodes by 304 answers alone, and returns the same facts', async () => {
  const viola = violaWith(10_000);
  const first = await viola.read();
  expect([first.facts.size, first.answered.length]).toEqual([10_000, 50]);
  const second = await viola.read();
  expect(second.answered).toEqual(Array.from({ length: 50 }, () => 304));
  expect(second.facts).toBe(first.facts);
});

it('FactPages reads a changed page alone again', async () => {
  const viola = violaWith(600);
  await viola.read();
  viola.generations[250] = 2;
  const { facts, answered } = await viola.read();
  expect(answered).toEqual([304, 200, 304]);
  expect(facts.get('node-250')?.generation).toBe(2);
});

it('FactPages begins again when a continue token has expired', async () => {
  const viola = violaWith(600);
  viola.expire();
  expect((await viola.read()).facts.size).toBe(600);
});
