import { describe, expect, it } from 'vitest';
import { canonicalJson, specHash } from './spec-hash.ts';

const nic = { id: 0, macAddress: 'fa:16:3e:00:00:01', mtu: 1450 };

describe('specHash', () => {
  it('specHash depends on content, not on key order or absent fields', () => {
    const hash = specHash({ nodeName: 'n', instanceId: 'i', interfaces: [nic] });
    const turned = { mtu: 1450, macAddress: 'fa:16:3e:00:00:01', name: undefined, id: 0 };
    expect(specHash({ interfaces: [turned], instanceId: 'i', nodeName: 'n' })).toBe(hash);
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(
      specHash({ nodeName: 'n', instanceId: 'i', interfaces: [{ ...nic, mtu: 1500 }] }),
    ).not.toBe(hash);
    expect(specHash({ nodeName: 'n', instanceId: 'j', interfaces: [nic] })).not.toBe(hash);
    expect(specHash({ nodeName: 'm', instanceId: 'i', interfaces: [nic] })).not.toBe(hash);
  });

  it('specHash treats absent interfaces as empty', () => {
    expect(specHash({ nodeName: 'n' })).toBe(specHash({ nodeName: 'n', interfaces: [] }));
  });
});

describe('canonicalJson', () => {
  it('canonicalJson keeps list order', () => {
    expect(canonicalJson({ b: [2, 1], a: { d: 1, c: null } })).toBe(
      '{"a":{"c":null,"d":1},"b":[2,1]}',
    );
  });
});
