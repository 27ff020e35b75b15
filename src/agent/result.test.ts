import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type JobRequest, jobResult, type NicResult } from '../api/job.ts';
import { jobResultOf, memoryOf, type Report, refusedResult } from './result.ts';
import { shorten } from './shorten.ts';
import { emptyState, type NicRecord } from './state.ts';

const nic = (index: number, more: Partial<NicResult> = {}): NicResult => ({
  index,
  portId: '0d1c9b5e-2f6a-4f0e-9f5b-0123456789ab',
  mac: 'fa:16:3e:00:00:01',
  name: 'multinic0',
  state: 'Configured',
  reason: 'Configured',
  message: '',
  ...more,
});
const failed = { state: 'Failed', reason: 'SubnetOverlapsPrimary' } as const;
const report = (more: Partial<Report>): Report => ({
  identity: { protocol: 1, uid: 'e5b7a2f0-1111-2222-3333-444455556666', generation: 3, attempt: 1 },
  bootId: '5c070bfe-18e9-4c97-857a-7f4d887bef8f',
  nics: [],
  warnings: [],
  ...more,
});

describe('run outcome', () => {
  test.each<[string, Partial<Report>]>([
    ['ok', {}],
    ['ok', { nics: [nic(0), nic(1, { state: 'Removed', reason: 'Removed' })] }],
    ['ok', { nics: [nic(0), nic(1, { state: 'Held', reason: 'RemovalHeld' })] }],
    ['partial', { nics: [nic(0), nic(1, failed)] }],
    ['partial', { nics: [nic(0), nic(1, { state: 'Pending', reason: 'WaitingForNIC' })] }],
    ['failed', { nics: [nic(0, failed)] }],
    ['failed', { failed: true }],
    ['refused', { refusal: { reason: 'StaleRequest', message: '' } }],
  ])('[RW-54] the run outcome is %s', (outcome, more) => {
    expect(jobResultOf(report(more)).outcome).toBe(outcome);
  });
});

describe('termination message', () => {
  test('[RW-67] the termination message holds ten failures, each with its message', () => {
    const words = 'RTNETLINK answers: "Operation not permitted" 한국어 '.repeat(9);
    const nics = Array.from({ length: 10 }, (_, n) => nic(n, { ...failed, message: words }));
    const warnings = nics.map(({ name }) => `SettingsKept ${name} ipv4.rp_filter=1`);
    const result = jobResultOf(report({ nics, warnings }));
    expect(jobResult.parse(result)).toEqual(result);
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThanOrEqual(4_000);
    expect(result.nics).toHaveLength(10);
    for (const { message } of result.nics) expect(message.length).toBeGreaterThan(40);
  });

  test('values of many failures are dropped before messages are cut, and protocol 4 has no codes', () => {
    const coded = { ...failed, code: 'RuleToOtherLink', args: 'priority=9000 '.repeat(4).trim() };
    const few = report({ nics: [nic(0, coded)] });
    const five = { ...few.identity, protocol: 5 as const };
    expect(jobResultOf({ ...few, identity: five }).nics[0]).toMatchObject(coded);
    const nics = Array.from({ length: 14 }, (_, n) =>
      nic(n % 10, { ...coded, message: 'm'.repeat(120) }),
    );
    const result = jobResultOf({ ...report({ nics }), identity: five });
    expect(jobResult.parse(result)).toEqual(result);
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThanOrEqual(4_000);
    for (const each of result.nics) {
      expect(each.code).toBe('RuleToOtherLink');
      expect(each).not.toHaveProperty('args');
      expect(each.message.length).toBeGreaterThan(40);
    }
    const four = jobResultOf({ ...few, identity: { ...few.identity, protocol: 4 } });
    expect(four.nics[0]).not.toHaveProperty('code');
    expect(four.nics[0]).not.toHaveProperty('args');
  });

  test('results of ten observed NICs keep file and stanza, and drop addresses and routes before cutting messages', () => {
    const identity = { ...report({}).identity, protocol: 5 as const };
    const source = { file: '/etc/netplan/50-cloud-init.yaml', section: 'ethernets.ens4.dhcp4' };
    const found = {
      ...source,
      dhcp: true,
      addresses: ['10.0.0.50/24'],
      routes: ['0.0.0.0/0 10.0.0.254'],
      nameServers: ['10.0.0.53'],
    };
    const words = `${source.file} ${source.section} configures the NIC; ens4 has the address 10.0.0.50/24`;
    const coded = { code: 'ForeignAddress', args: 'link=ens4 address=10.0.0.50/24' };
    const observed = { ...failed, ...coded, message: words, found };
    const resultOf = (count: number) => {
      const nics = Array.from({ length: count }, (_, n) => nic(n, observed));
      return jobResultOf({ ...report({ nics, known: [] }), identity });
    };
    expect(resultOf(4).nics).toMatchObject([observed, observed, observed, observed]);
    const result = resultOf(10);
    expect(jobResult.parse(result)).toEqual(result);
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThanOrEqual(4_000);
    for (const each of result.nics) {
      expect(each.found).toEqual({ ...source, dhcp: true });
      expect(each.message).toContain(source.section);
    }
    expect(jobResultOf(report({ nics: [nic(0, observed)] })).nics[0]).not.toHaveProperty('found');
  });

  test('the termination message holds twenty NICs with messages doubled by JSON escapes', () => {
    const nics = Array.from({ length: 20 }, (_, n) =>
      nic(n % 10, { ...failed, message: '"'.repeat(200) }),
    );
    const result = jobResultOf(report({ nics, warnings: ['x'.repeat(80)] }));
    expect(result.nics).toHaveLength(20);
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThanOrEqual(4_000);
  });

  test("the termination message holds twenty NICs with the longest values, and the host's known NICs", () => {
    const long = { ...failed, reason: 'SubnetOverlapsForeign', name: 'enp129s31f7np1d' } as const;
    const nics = Array.from({ length: 20 }, (_, n) => nic(n % 10, { ...long, carrier: false }));
    const known = nics.slice(10).map(({ mac, index, portId = '' }) => ({ mac, index, portId }));
    const identity = {
      protocol: 2,
      uid: 'u'.repeat(64),
      generation: 1_000_000,
      attempt: 1_000,
    } as const;
    const fence = { uid: 'v'.repeat(64), generation: 1_000_000 };
    const result = jobResultOf(report({ nics, known, identity, fence, warnings: ['x'] }));
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThanOrEqual(4_096);
    expect(result.nics).toHaveLength(20);
    expect(result.known).toHaveLength(10);
  });

  test('the termination message holds ten failed and ten held NICs with the longest values', () => {
    const { portId = '' } = nic(0);
    const [wanted, held] = (['SubnetOverlapsForeign', 'RemovalHeld'] as const).map((reason) =>
      Array.from({ length: 10 }, (_, n) => {
        const target = { mac: `fa:16:3e:00:00:${n}${reason.length % 10}`, index: n, portId };
        const refusal = { reason, message: 'x'.repeat(120) };
        return refusedResult({ target, name: 'enp129s31f7np1d', refusal });
      }),
    ) as [NicResult[], NicResult[]];
    const known = [...held, ...wanted].map(({ mac, index }) => ({ mac, index, portId }));
    const identity = {
      protocol: 4,
      uid: 'u'.repeat(64),
      generation: 1_000_000,
      attempt: 1_000,
    } as const;
    const fence = { uid: 'v'.repeat(64), generation: 1_000_000 };
    const more = { known, identity, fence, family: 'networkd', warnings: ['x'] } as const;
    const nics = [...wanted, ...held];
    const result = jobResultOf(report({ ...more, nics: [...nics, ...held] }));
    expect(jobResult.parse(result)).toEqual(result);
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThanOrEqual(4_000);
    expect(result.nics.map(({ mac, state }) => [mac, state])).toEqual(
      nics.map(({ mac, state }) => [mac, state]),
    );
    expect(result.known).toHaveLength(20);
    expect(jobResultOf(report({ nics })).nics[19]?.state).toBe('Held');
  });

  test('[RW-67] the termination message fits whatever its content', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme', maxLength: 400 }), { maxLength: 20 }),
        fc.string({ unit: 'binary', maxLength: 2_000 }),
        (messages, refusal) => {
          const nics = messages.map((message, n) => nic(n % 10, { ...failed, message }));
          const more = {
            nics,
            warnings: messages,
            refusal: { reason: 'InvalidRequest', message: refusal },
          } as const;
          const result = jobResultOf(report(more));
          expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThanOrEqual(4_096);
          expect(jobResult.safeParse(result).success).toBe(true);
        },
      ),
    );
  });

  test('known lists each NIC once, and is absent if the NICs were not read', () => {
    const identity = { ...report({}).identity, protocol: 4 } as const;
    const [recorded, blocked] = [1, 2].map((n) => ({ mac: `fa:16:3e:00:00:0${n}`, index: n })) as [
      NicRecord,
      NicRecord,
    ];
    const request = { interfaces: [{ mac: blocked.mac, portId: 'p2' }] } as JobRequest;
    const { known } = memoryOf({ ...emptyState, nics: [recorded] }, request, [recorded, blocked]);
    expect(known).toEqual([
      { mac: recorded.mac, index: 1 },
      { mac: blocked.mac, index: 2, portId: 'p2' },
    ]);
    expect(jobResultOf(report({ identity, known })).known).toEqual(known);
    expect(jobResultOf(report({ identity, known: [] })).known).toEqual([]);
    expect(jobResultOf(report({ identity }))).not.toHaveProperty('known');
  });

  test.each([
    ['short', 10, 'short'],
    ['one  two\nthree', 20, 'one two three'],
    ['한국어입니다', 10, '한국…'],
    ['abcdef', 5, 'ab…'],
    ['abc', 0, ''],
  ])('shorten cuts %j to %i bytes', (text, bytes, expected) => {
    expect(shorten(text, bytes)).toBe(expected);
    expect(Buffer.byteLength(shorten(text, bytes))).toBeLessThanOrEqual(bytes);
  });
});
