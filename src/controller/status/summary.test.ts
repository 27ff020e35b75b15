import { describe, expect, it } from 'vitest';
import { entry, nicResult, nodeConfig } from '../../../test/fixtures/controller-samples.ts';
import { endedAt, reported, run, status } from '../../../test/fixtures/status-samples.ts';
import { statusPatch } from './status-patch.ts';
import { summaryOf } from './summary.ts';

const spec = { interfaces: [entry(0), entry(1)] };
const half = reported({
  outcome: 'partial',
  nics: [
    nicResult(0, { carrier: true }),
    nicResult(1, { state: 'Failed', reason: 'ApplyFailed', message: 'busy' }),
  ],
});

describe('summary of a node', () => {
  it('the summary counts configured NICs and lists their addresses', () => {
    const next = status(half, nodeConfig({ spec }));
    expect(next.summary).toEqual({ nics: '1/2', addresses: entry(0).address });
  });

  it('the summary leaves out a NIC that leaves the node', () => {
    const before = status(half, nodeConfig({ spec }));
    const config = nodeConfig({ spec: { interfaces: [entry(1)] }, status: before });
    const next = status({ kind: 'working', run: run(), repeat: false }, config);
    expect(next.interfaceStatuses).toHaveLength(2);
    expect(next.summary).toEqual({ nics: '0/1', addresses: '' });
  });

  it('the addresses of the summary end with a whole address within the limit', () => {
    const addresses = Array.from({ length: 32 }, (_, n) => `fd00:1234:5678:9abc:def0::${n}/64`);
    const nic = { interfaceIndex: 0, status: 'Configured', addresses } as const;
    const { addresses: text = '' } = summaryOf([nic]);
    expect(text.length).toBeLessThanOrEqual(512);
    expect(text).toMatch(/,fd00:1234:5678:9abc:def0::\d+,…$/);
  });
});

describe('carrier of a NIC', () => {
  const config = nodeConfig({ spec });
  const before = status(half, config);
  const stored = nodeConfig({ spec, status: before });

  it('the carrier is that of the last agent run, and stays without a new result', () => {
    expect(before.interfaceStatuses?.map(({ carrier }) => carrier)).toEqual([true, undefined]);
    const later = status({ kind: 'working', run: run(), repeat: true }, stored);
    expect(later.interfaceStatuses?.[0]?.carrier).toBe(true);
  });

  it('the carrier is absent when an older agent reports none', () => {
    const next = status(reported({ nics: [nicResult(0), nicResult(1)] }), stored);
    expect(next.interfaceStatuses?.some((nic) => 'carrier' in nic)).toBe(false);
  });

  it('the carrier changes with a check, and lastUpdated does not', () => {
    const nics = [nicResult(0, { carrier: false })];
    const next = status({ kind: 'recorded', check: { nics, at: endedAt } }, stored);
    const [was, is] = [before, next].map(({ interfaceStatuses: list }) => list?.[0]);
    expect(is).toEqual({ ...was, carrier: false, lastChecked: is?.lastChecked });
  });

  it('the status is not written again when the API server stored it without new fields', () => {
    const { summary: _, ...rest } = before;
    const nics = before.interfaceStatuses?.map(({ carrier: _c, ...nic }) => nic);
    const older = nodeConfig({ spec, status: { ...rest, interfaceStatuses: nics } });
    const again = status({ kind: 'recorded' }, older);
    expect(statusPatch(older, again)).toBeUndefined();
  });
});
