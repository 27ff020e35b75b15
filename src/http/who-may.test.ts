import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLogger } from '../process/log.ts';
import { HttpProblem } from './problem.ts';
import { openTokenFile } from './token-file.ts';
import { authorize, type Grant } from './who-may.ts';

const sha256 = (token: string) => createHash('sha256').update(token).digest('hex');
const list: Grant[] = [
  { name: 'operator', sha256: sha256('t-op'), providers: ['biz-1'], verbs: ['read', 'write'] },
  { name: 'viewer', sha256: sha256('t-view'), providers: ['*'], verbs: ['read'] },
];

function statusOf(authorization: string | undefined, provider: string, verb: 'read' | 'write') {
  try {
    return authorize(list, authorization, { provider, verb }).name;
  } catch (error) {
    if (error instanceof HttpProblem) return error.status;
    throw error;
  }
}

describe('authorize', () => {
  it.each([
    ['no token', undefined, 'biz-1', 'read', 401],
    ['another scheme', 'Basic t-op', 'biz-1', 'read', 401],
    ['an unknown token', 'Bearer nope', 'biz-1', 'read', 401],
    ['a provider that is not granted', 'Bearer t-op', 'biz-2', 'read', 403],
    ['a verb that is not granted', 'Bearer t-view', 'biz-1', 'write', 403],
    ['what is granted', 'Bearer t-op', 'biz-1', 'write', 'operator'],
    ['any provider under "*"', 'bearer t-view', 'biz-9', 'read', 'viewer'],
  ] as const)('decides %s', (_what, authorization, provider, verb, outcome) => {
    expect(statusOf(authorization, provider, verb)).toBe(outcome);
  });
});

describe('openTokenFile', () => {
  const log = createLogger({ part: 'test', level: 'silent' });
  let directory = '';
  let path = '';

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tokens-'));
    path = join(directory, 'tokens.yaml');
  });
  afterEach(async () => {
    await rm(directory, { recursive: true });
  });

  it('sees a token that is added later', async () => {
    await writeFile(path, JSON.stringify(list.slice(0, 1)));
    const file = await openTokenFile(path, log);
    expect(await file.current()).toHaveLength(1);
    await writeFile(path, JSON.stringify(list));
    expect(await file.current()).toHaveLength(2);
  });

  it('keeps the last good grants when the file goes bad', async () => {
    await writeFile(path, JSON.stringify(list));
    const file = await openTokenFile(path, log);
    await writeFile(path, '- name: broken');
    expect(await file.current()).toHaveLength(2);
  });

  it('names what is wrong at the start', async () => {
    await writeFile(path, '[{name: x, sha256: abc, providers: [p], verbs: [fly]}]');
    await expect(openTokenFile(path, log)).rejects.toThrow(
      /0\.sha256: must be 64 hexadecimal digits.*0\.verbs\.0/s,
    );
  });
});
