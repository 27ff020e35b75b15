import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { pathReader, read } from './ip.ts';

const answer = (more: object) => JSON.stringify([{ dst: '198.51.100.1', flags: [], ...more }]);
const failed = (line: number, words: string) =>
  `RTNETLINK answers: ${words}\nCommand failed -:${line}\n`;

describe('batch output', () => {
  it('assigns answers and complaints to lines', () => {
    const stdout = [
      answer({ dev: 'multinic0', gateway: '10.0.0.254', table: '100' }),
      answer({ type: '2', dev: 'lo', table: '255' }),
      answer({ type: '7', dev: 'lo' }),
      answer({ dev: 'eth0' }),
      JSON.stringify([{ dst: '10.0.0.254', dev: 'multinic0', state: ['FAILED'] }]),
    ].join('\n');
    const stderr = [
      failed(1, 'No route to host'),
      failed(3, 'Network is unreachable'),
      failed(5, 'Invalid argument'),
      failed(6, 'Permission denied'),
      failed(8, 'Something new'),
    ].join('');
    expect(read({ stdout, stderr }, 9)).toEqual({
      answers: [
        { kind: 'refused', why: 'unreachable' },
        { kind: 'link', link: 'multinic0', via: '10.0.0.254', table: 100 },
        { kind: 'refused', why: 'no route' },
        { kind: 'local' },
        { kind: 'refused', why: 'blackhole' },
        { kind: 'refused', why: 'prohibited' },
        { kind: 'refused', why: 'unreachable' },
        undefined,
        { kind: 'link', link: 'eth0', table: 254 },
      ],
      silent: [{ ip: '10.0.0.254', link: 'multinic0' }],
    });
  });

  it('is unknown when a line has an unknown form', () => {
    expect(read({ stdout: '198.51.100.1 dev eth0\n', stderr: '' }, 1)).toBeUndefined();
  });
});

describe('path reader', () => {
  const folder = mkdtempSync(join(tmpdir(), 'multinic-path-'));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    ['is missing', '', undefined],
    ['does not end in time', '#!/bin/sh\nexec sleep 30\n', undefined],
    ['prints no JSON', '#!/bin/sh\necho no\n', undefined],
  ])('gives no answers when ip %s', async (_, script, answers) => {
    const command = join(mkdtempSync(join(tmpdir(), 'multinic-path-')), 'ip');
    if (script) {
      writeFileSync(command, script);
      chmodSync(command, 0o755);
    }
    const reader = pathReader(command, 200);
    reader.start();
    expect(await reader.lookUp([{ to: '192.0.2.1' }])).toEqual(answers);
    expect(await reader.rules(6)).toBeUndefined();
  });
});
