import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHealth } from '../process/health.ts';
import { createLogger } from '../process/log.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import { openTokenFile, tokenGraceMs } from './token-file.ts';

const grant = (name: string) => ({
  name,
  sha256: 'a'.repeat(64),
  providers: ['biz-1'],
  verbs: ['read'],
});
const [one, two] = [JSON.stringify([grant('a')]), JSON.stringify([grant('a'), grant('b')])];
let directory = '';
let path = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tokens-'));
  path = join(directory, 'tokens.yaml');
  await writeFile(path, two);
});

afterEach(async () => {
  await rm(directory, { recursive: true });
});

async function open() {
  const clock = createFakeClock();
  const health = createHealth();
  const usable: boolean[] = [];
  const file = await openTokenFile(path, {
    clock,
    health,
    log: createLogger({ part: 'test', level: 'silent' }),
    onRead: (is) => void usable.push(is),
  });
  const names = async () => (await file.current()).map(({ name }) => name);
  return { clock, health, usable, names };
}

describe('openTokenFile', () => {
  it('sees a token that is added or withdrawn later, even when size and time stay', async () => {
    const { names } = await open();
    expect(await names()).toEqual(['a', 'b']);
    await writeFile(path, one);
    expect(await names()).toEqual(['a']);
    await writeFile(path, JSON.stringify([grant('c')]));
    expect(await names()).toEqual(['c']);
  });

  it.each([
    ['is gone', () => rm(path)],
    ['is broken', () => writeFile(path, '- name: broken')],
    ['is no YAML', () => writeFile(path, '[')],
  ])('lets nobody in half a minute after the file %s, until it is good again', async (_, harm) => {
    const { names, clock, health, usable } = await open();
    await harm();
    expect(await names()).toEqual(['a', 'b']);
    await clock.advance(tokenGraceMs - 1);
    expect(await names()).toEqual(['a', 'b']);
    await clock.advance(1);
    await expect(names()).rejects.toMatchObject({ status: 503, code: 'TokensUnavailable' });
    expect(health.readiness().failing).toHaveProperty('tokens');
    expect(usable.at(-1)).toBe(false);
    await writeFile(path, one);
    expect(await names()).toEqual(['a']);
    expect([health.readiness().ok, usable.at(-1)]).toEqual([true, true]);
  });

  it('tells a probe about a file that nobody has asked for since it broke', async () => {
    const { health } = await open();
    await rm(path);
    await expect.poll(() => health.readiness().ok).toBe(false);
  });

  it('names what is wrong at the start', async () => {
    await writeFile(path, '[{name: x, sha256: abc, providers: [p], verbs: [fly]}]');
    await expect(open()).rejects.toThrow(/0\.sha256: must be 64 hexadecimal digits.*0\.verbs\.0/s);
  });
});
