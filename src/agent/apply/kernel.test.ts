import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Ip, IpAnswer } from '../ip/session.ts';
import type { Change } from '../planning/operation.ts';
import { changeKernel, type Kernel } from './kernel.ts';

const seen = { links: [], addresses: [], routes: [], rules: [], neighbours: [] };
let sysctls: string;
beforeEach(async () => {
  sysctls = await mkdtemp(join(tmpdir(), 'multinic-sysctl-'));
});
afterEach(() => rm(sysctls, { recursive: true }));

/** Kernel refusing lines with these words, recording lines and effects. */
function kernelThatRefuses(words: string, why = 'RTNETLINK answers: File exists') {
  const batches: string[][] = [];
  const effects: string[] = [];
  const ip: Ip = {
    run: async (lines): Promise<IpAnswer> => {
      batches.push([...lines]);
      const failedAt = lines.findIndex((line) => words !== '' && line.includes(words));
      return failedAt < 0 ? { seen } : { failedAt, words: why };
    },
  };
  const kernel: Kernel = {
    ip,
    ipv6: false,
    sysctls,
    perform: async (name, write) => {
      effects.push(name);
      return write();
    },
  };
  return { kernel, batches, effects };
}

const up = (dev: string) => ({ kind: 'link.up', dev }) as const;
const rename = (dev: string, to: string) => ({ kind: 'link.rename', dev, to }) as const;
const rule = { from: '10.0.0.1/32', table: 100, priority: 10_100, protocol: 4 };
const route = { to: '10.0.0.0/24', table: 100, protocol: 4, scope: 253, metric: 100 };
const deletes: Change['operations'] = [
  { kind: 'rule.delete', rule },
  { kind: 'route.delete', dev: 'a', route },
  { kind: 'address.delete', dev: 'a', address: { cidr: '10.0.0.1/24', noPrefixRoute: false } },
];
const change = (...operations: Change['operations']): Change => ({ sysctls: [], operations });

describe('changeKernel', () => {
  test('changeKernel runs all changes in one batch, evictions first', async () => {
    const { kernel, batches, effects } = kernelThatRefuses('');
    const changes = new Map([
      ['a', change(up('a'))],
      ['b', { ...change(rename('t', 'b')), eviction: rename('c', 't') }],
    ]);
    expect(await changeKernel(changes, kernel)).toEqual({ failures: new Map(), seen });
    expect(batches).toEqual([
      ['link set dev c name t', 'link set dev a up', 'link set dev t name b'],
    ]);
    expect(effects).toEqual(['agent.kernel.batch']);
  });

  test('changeKernel skips remaining steps after a failure and continues with the next change', async () => {
    const { kernel, batches } = kernelThatRefuses('dev b name');
    const changes = new Map([
      ['a', change(up('a'))],
      ['b', change(rename('b', 'x'), up('x'))],
      ['c', change(up('c'), up('d'))],
    ]);
    const { failures } = await changeKernel(changes, kernel);
    expect([...failures]).toEqual([
      ['b', { reason: 'ApplyFailed', message: 'File exists: link set dev b name x', busy: false }],
    ]);
    expect(batches[1]).toEqual(['link set dev c up', 'link set dev d up']);
  });

  test('changeKernel stops after the maximum number of failures', async () => {
    const { kernel, batches } = kernelThatRefuses('dev');
    const changes = new Map(['a', 'b', 'c'].map((name) => [name, change(up(name))]));
    const { failures, seen: after } = await changeKernel(changes, kernel, 2);
    expect([...failures.keys()]).toEqual(['a', 'b']);
    expect(batches).toHaveLength(2);
    expect(after).toBeUndefined();
  });

  test.each([
    ['rule del', 'RTNETLINK answers: No such file or directory'],
    ['route del', 'RTNETLINK answers: No such process'],
    ['addr del', 'RTNETLINK answers: Cannot assign requested address'],
    ['addr del', 'Error: ipv4: Address not found.'],
  ])('changeKernel counts an already missing target as deleted: %s, %s', async (words, why) => {
    const { kernel, batches } = kernelThatRefuses(words, why);
    const { failures } = await changeKernel(new Map([['a', change(...deletes, up('a'))]]), kernel);
    expect(failures).toEqual(new Map());
    expect(batches.at(-1)).toContain('link set dev a up');
  });

  test('changeKernel reports a busy deletion and an addition without a target as failures', async () => {
    const busy = kernelThatRefuses('addr del', 'RTNETLINK answers: Device or resource busy');
    const absent = kernelThatRefuses('rule add', 'RTNETLINK answers: No such file or directory');
    const add = { kind: 'rule.add', rule } as const;
    expect(
      (await changeKernel(new Map([['a', change(...deletes)]]), busy.kernel)).failures.size,
    ).toBe(1);
    expect((await changeKernel(new Map([['a', change(add)]]), absent.kernel)).failures.size).toBe(
      1,
    );
  });

  test.each([
    [rename('a', 'b'), true],
    [up('a'), false],
  ])('changeKernel sets busy only for a failed rename: %j', async (operation, busy) => {
    const { kernel } = kernelThatRefuses('dev a', 'RTNETLINK answers: Device or resource busy');
    const { failures, seen: after } = await changeKernel(
      new Map([['a', change(operation)]]),
      kernel,
    );
    expect(failures.get('a')?.busy).toBe(busy);
    expect(after).toBeUndefined();
  });

  test('changeKernel writes sysctls before operations', async () => {
    const path = join(sysctls, 'ipv6/conf/ens5.7/accept_ra');
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, '1');
    const { kernel } = kernelThatRefuses('');
    const setting = { dev: 'ens5.7', key: 'ipv6.accept_ra', value: '0' } as const;
    await changeKernel(new Map([['a', { ...change(up('a')), sysctls: [setting] }]]), kernel);
    expect(await readFile(path, 'utf8')).toBe('0');
  });

  test('changeKernel skips a NIC whose sysctl cannot be written', async () => {
    const { kernel, batches } = kernelThatRefuses('');
    const setting = { dev: 'ens5', key: 'ipv6.accept_ra', value: '0' } as const;
    const { failures } = await changeKernel(
      new Map([
        ['a', { ...change(up('a')), sysctls: [setting] }],
        ['b', change(up('b'))],
      ]),
      kernel,
    );
    expect(failures.get('a')?.message).toMatch(/^net\.ipv6\.conf\.ens5\.accept_ra: ENOENT/);
    expect(batches).toEqual([['link set dev b up']]);
  });

  test('changeKernel performs no effect without changes', async () => {
    const { kernel, batches, effects } = kernelThatRefuses('');
    expect(await changeKernel(new Map([['a', change()]]), kernel)).toEqual({ failures: new Map() });
    expect([batches, effects]).toEqual([[], []]);
  });
});
