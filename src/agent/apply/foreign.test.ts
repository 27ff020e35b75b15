import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { host, link, macOf } from '../../../test/fixtures/agent-samples.ts';
import { emptyState } from '../state.ts';
import type { Context } from './context.ts';
import { foreignBaseline } from './foreign.ts';

let sysctls: string;
beforeEach(() => {
  sysctls = mkdtempSync(join(tmpdir(), 'multinic-sysctls-'));
  for (const name of ['ens1', 'ens2']) {
    mkdirSync(join(sysctls, 'ipv4/conf', name), { recursive: true });
    writeFileSync(join(sysctls, 'ipv4/conf', name, 'rp_filter'), '1\n');
  }
});
afterEach(() => rmSync(sysctls, { recursive: true }));

const seen = host([link(1), link(2)]);
const contextOf = (...macs: string[]) => ({ macs: new Set(macs), sysctls }) as unknown as Context;
const belongings = { tables: [100], ips: ['10.0.0.1'], routes: [], rules: ['10.0.0.1 table 100'] };
const inHand = { mac: macOf(1), belongings };
const record = {
  mac: macOf(1),
  index: 0,
  originalName: 'ens1',
  addresses: ['10.0.0.9/24'],
  table: 100,
  priority: 10_100,
  files: [],
};

test('foreignBaseline reads settings only for NICs outside the run', () => {
  const names = [...foreignBaseline(seen, emptyState, contextOf(macOf(1))).settings.keys()];
  expect(names).toContain('ens2');
  expect(names).not.toContain('ens1');
});

test('foreignBaseline counts an unfinished NIC without a record as managed', () => {
  expect(foreignBaseline(seen, emptyState, contextOf(macOf(1)), [inHand]).ours).toEqual([inHand]);
});

test("foreignBaseline prefers the journal's entry to the record for an unfinished NIC", () => {
  const other = { ...record, mac: macOf(2), index: 1 };
  const state = { ...emptyState, nics: [record, other] };
  const { ours } = foreignBaseline(seen, state, contextOf(macOf(1), macOf(2)), [inHand]);
  expect(ours.map(({ mac }) => mac)).toEqual([macOf(1), macOf(2)]);
  expect(ours[0]).toBe(inHand);
});
