import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { entry, request } from '../../test/fixtures/agent-samples.ts';
import { readRequest } from './request.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'multinic-request-'));
});
afterEach(() => rm(directory, { recursive: true }));

async function read(content: unknown) {
  const path = join(directory, 'request.json');
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return readRequest(path);
}

const good = request([entry(1)]);

describe('readRequest', () => {
  test('readRequest returns a valid request', async () => {
    expect(await read(good)).toEqual({ request: good });
  });

  test.each([
    [{ ...good, protocol: 99 }, 'protocol:'],
    [{ ...good, interfaces: [{ ...entry(1), mac: 'x' }] }, 'interfaces.0.mac:'],
    [{ ...good, interfaces: [{ ...entry(1), addresses: [] }] }, 'interfaces.0.addresses:'],
    [{ ...good, action: 'destroy' }, 'action:'],
  ])(
    'readRequest returns identity and faulty field for an invalid request',
    async (content, words) => {
      const answer = await read(content);
      expect(answer).toMatchObject({ identity: { uid: 'uid-1', generation: 1, attempt: 0 } });
      expect('problem' in answer && answer.problem).toContain(words);
    },
  );

  test.each(['null', '[]', '{"generation": -1}'])(
    'readRequest returns identity unknown for %s',
    async (text) => {
      expect(await read(text)).toMatchObject({ identity: { uid: 'unknown', generation: 0 } });
    },
  );

  test.each(['{', ''])('readRequest reports non-JSON content %j', async (text) => {
    expect(await read(text)).toHaveProperty('problem', expect.stringContaining('cannot be read'));
  });

  test('readRequest reports a missing file', () => {
    const answer = readRequest(join(directory, 'nowhere'));
    expect(answer).toHaveProperty('problem', expect.stringContaining('ENOENT'));
  });
});
