import { describe, expect, it } from 'vitest';
import { entry, nodeConfig } from '../../../test/fixtures/controller-samples.ts';
import { acceptEntries, acceptSpec } from './request.ts';

describe('acceptEntries', () => {
  it('acceptEntries returns usable entries sorted by index', () => {
    const { interfaces, keep, blocked } = acceptEntries([entry(3), entry(1)]);
    expect(interfaces.map(({ index }) => index)).toEqual([1, 3]);
    expect(keep).toEqual([]);
    expect(blocked).toBeUndefined();
  });

  it("acceptEntries keeps a refused entry's NIC instead of removing the NIC", () => {
    const spec = acceptEntries([entry(0), entry(1, { address: '10.9.9.9' })]);
    expect(spec.interfaces.map(({ index }) => index)).toEqual([0]);
    expect(spec.keep).toEqual(['fa:16:3e:00:00:01']);
    expect(spec.entries?.[1]?.rejection).toBe(
      'interfaces[1].address: 10.9.9.9 is not in cidr 10.0.1.0/24',
    );
  });

  it('acceptEntries names positions in the spec, not among readable entries', () => {
    const spec = acceptEntries([entry(0, { mtu: 1 }), entry(1), entry(2, { cidr: '10.0.0.0' })]);
    expect(spec.entries?.map(({ rejection }) => rejection?.split(':')[0])).toEqual([
      'interfaces[0].mtu',
      undefined,
      'interfaces[2].cidr',
    ]);
    expect(spec.keep).toEqual(['fa:16:3e:00:00:00', 'fa:16:3e:00:00:02']);
  });

  it('acceptEntries does not list a NIC as kept when another entry requests the NIC', () => {
    const spec = acceptEntries([entry(0), entry(1, { macAddress: 'FA:16:3E:00:00:00', mtu: 1 })]);
    expect(spec.interfaces.map(({ mac }) => mac)).toEqual(['fa:16:3e:00:00:00']);
    expect(spec.keep).toEqual([]);
  });

  it.each([
    ['no MAC', { address: '10.0.0.10' }],
    ['a MAC of another form', entry(0, { macAddress: 'fa-16-3e-00-00-01' })],
    ['nothing readable', 'multinic0'],
    ['null', null],
  ])(
    'acceptEntries blocks all runs when an entry has %s, because its NIC is unknown',
    (_what, raw) => {
      expect(acceptEntries([entry(1), raw]).blocked).toMatch(/^interfaces\[1\]/);
    },
  );

  it('[RW-25] acceptEntries refuses both entries that use the same name', () => {
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
    '[RW-32] [RW-53] acceptEntries refuses an entry whose %s is %j, naming the field, and keeps its NIC',
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

  it("acceptEntries shows a refused entry's readable fields", () => {
    const [shown] = acceptEntries([{ ...entry(0), mtu: 'big' }]).entries ?? [];
    expect(shown?.shown).toMatchObject({ name: 'multinic0', address: '10.0.0.10' });
    expect(shown?.shown.mtu).toBeUndefined();
  });
});

describe('acceptSpec', () => {
  it('acceptSpec treats missing interfaces as an empty list, which removes all NICs', () => {
    expect(acceptSpec(nodeConfig({ spec: { interfaces: undefined } }))).toMatchObject({
      entries: [],
      interfaces: [],
      blocked: undefined,
    });
  });

  it.each([[''], ['  '], [undefined]])(
    'acceptSpec blocks agent runs when nodeName is %j',
    (nodeName) => {
      const accepted = acceptSpec(nodeConfig({ spec: { nodeName } }));
      expect(accepted.blocked).toBe('spec.nodeName: is empty; set the name of the node');
      expect(accepted.entries).toHaveLength(1);
    },
  );

  it.each([
    [{ interfaces: {} }, 'spec.interfaces'],
    [{ instanceId: 7 }, 'spec.instanceId'],
  ])('acceptSpec blocks an unreadable spec and names the field', (spec, field) => {
    const accepted = acceptSpec(nodeConfig({ spec }));
    expect(accepted.entries).toBeUndefined();
    expect(accepted.blocked).toContain(field);
  });
});
