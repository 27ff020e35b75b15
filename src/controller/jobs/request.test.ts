import { describe, expect, it } from 'vitest';
import { entry, nodeConfig } from '../../../test/fixtures/controller-samples.ts';
import { acceptEntries, acceptSpec } from './request.ts';

describe('acceptEntries', () => {
  it('asks the agent for every usable entry, by index', () => {
    const { interfaces, keep, blocked } = acceptEntries([entry(3), entry(1)]);
    expect(interfaces.map(({ index }) => index)).toEqual([1, 3]);
    expect(keep).toEqual([]);
    expect(blocked).toBeUndefined();
  });

  it('keeps the NIC of a refused entry instead of asking for its removal', () => {
    const spec = acceptEntries([entry(0), entry(1, { address: '10.9.9.9' })]);
    expect(spec.interfaces.map(({ index }) => index)).toEqual([0]);
    expect(spec.keep).toEqual(['fa:16:3e:00:00:01']);
    expect(spec.entries?.[1]?.rejection).toBe(
      'interfaces[1].address: 10.9.9.9 is not in cidr 10.0.1.0/24',
    );
  });

  it('names the position in the spec, not among the readable entries', () => {
    const spec = acceptEntries([entry(0, { mtu: 1 }), entry(1), entry(2, { cidr: '10.0.0.0' })]);
    expect(spec.entries?.map(({ rejection }) => rejection?.split(':')[0])).toEqual([
      'interfaces[0].mtu',
      undefined,
      'interfaces[2].cidr',
    ]);
    expect(spec.keep).toEqual(['fa:16:3e:00:00:00', 'fa:16:3e:00:00:02']);
  });

  it('never keeps a NIC that another entry asks for', () => {
    const spec = acceptEntries([entry(0), entry(1, { macAddress: 'FA:16:3E:00:00:00', mtu: 1 })]);
    expect(spec.interfaces.map(({ mac }) => mac)).toEqual(['fa:16:3e:00:00:00']);
    expect(spec.keep).toEqual([]);
  });

  it.each([
    ['no MAC', { address: '10.0.0.10' }],
    ['a MAC of another form', entry(0, { macAddress: 'fa-16-3e-00-00-01' })],
    ['nothing readable', 'multinic0'],
    ['null', null],
  ])('blocks everything when an entry has %s: nobody knows which NIC it means', (_what, raw) => {
    expect(acceptEntries([entry(1), raw]).blocked).toMatch(/^interfaces\[1\]/);
  });

  it('[RW-25] refuses both of two entries that claim one name', () => {
    const spec = acceptEntries([entry(0), entry(1, { id: 0, name: 'multinic0' })]);
    expect(spec.interfaces).toEqual([]);
    expect(spec.keep).toHaveLength(2);
  });

  it.each<[field: string, value: unknown]>([
    ['mtu', 1450.5],
    ['mtu', '1450'],
    ['mtu', 1e9],
    ['mtu', 0],
    ['mtu', null],
    ['id', '0'],
    ['id', 0.5],
    ['id', 1e20],
    ['id', -1],
    ['id', true],
    ['address', undefined],
    ['address', ''],
    ['address', 7],
    ['cidr', undefined],
  ])(
    '[RW-32] [RW-53] refuses an entry whose %s is %j, once and by that field, and keeps its NIC',
    (field, value) => {
      const { interfaces, entries, keep } = acceptEntries([
        { ...entry(0), [field]: value },
        entry(1),
      ]);
      expect(interfaces.map(({ index }) => index)).toEqual([1]);
      expect(entries?.[0]?.rejection).toMatch(new RegExp(`^interfaces\\[0\\]\\.${field}: `));
      expect(keep).toEqual(['fa:16:3e:00:00:00']);
    },
  );

  it('shows what can be read of a refused entry', () => {
    const [shown] = acceptEntries([{ ...entry(0), mtu: 'big' }]).entries ?? [];
    expect(shown?.shown).toMatchObject({ name: 'multinic0', address: '10.0.0.10' });
    expect(shown?.shown.mtu).toBeUndefined();
  });
});

describe('acceptSpec', () => {
  it('takes a spec without interfaces for an empty one: nothing here is ours any more', () => {
    expect(acceptSpec(nodeConfig({ spec: { interfaces: undefined } }))).toMatchObject({
      entries: [],
      interfaces: [],
      blocked: undefined,
    });
  });

  it.each([[''], ['  '], [undefined]])(
    'runs no agent for an object whose nodeName is %j',
    (nodeName) => {
      const accepted = acceptSpec(nodeConfig({ spec: { nodeName } }));
      expect(accepted.blocked).toBe('spec.nodeName: names no node');
      expect(accepted.entries).toHaveLength(1);
    },
  );

  it.each([
    [{ interfaces: {} }, 'spec.interfaces'],
    [{ instanceId: 7 }, 'spec.instanceId'],
  ])('blocks a spec of no known form and names the field', (spec, field) => {
    const accepted = acceptSpec(nodeConfig({ spec }));
    expect(accepted.entries).toBeUndefined();
    expect(accepted.blocked).toContain(field);
  });
});
