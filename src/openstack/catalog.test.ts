import { describe, expect, test } from 'vitest';
import { catalogSchema, endpointUrl } from './catalog.ts';

const catalog = catalogSchema.parse([
  {
    type: 'network',
    endpoints: [
      { interface: 'internal', region: 'One', region_id: 'One', url: 'http://one-internal' },
      { interface: 'public', region: 'One', region_id: 'One', url: 'http://one-public' },
    ],
  },
  {
    type: 'network',
    endpoints: [{ interface: 'public', region: 'Two', url: 'http://two-public' }],
  },
  { type: 'compute', endpoints: [] },
]);
const network = { service: 'neutron', type: 'network', interface: 'public' } as const;

describe('endpointUrl', () => {
  test('is the first of the interface when no region is asked for', () => {
    expect(endpointUrl(catalog, network)).toBe('http://one-public');
    expect(endpointUrl(catalog, { ...network, region: '' })).toBe('http://one-public');
  });

  test('looks through every entry of the type, and without case', () => {
    expect(endpointUrl(catalog, { ...network, region: 'two' })).toBe('http://two-public');
    expect(endpointUrl(catalog, { ...network, interface: 'Internal' })).toBe('http://one-internal');
  });

  test('an unknown region is an error with those that exist, never another region', () => {
    expect(() => endpointUrl(catalog, { ...network, region: 'Three' })).toThrow(
      'neutron: no "network" endpoint in region "Three"; there are "One", "Two"',
    );
  });

  test('an unknown interface is an error with those that exist, never another interface', () => {
    expect(() => endpointUrl(catalog, { ...network, interface: 'admin', region: 'One' })).toThrow(
      'neutron: no admin "network" endpoint; there are "internal", "public"',
    );
  });

  test('a service without endpoints is missing', () => {
    expect(() =>
      endpointUrl(catalog, { service: 'nova', type: 'compute', interface: 'public' }),
    ).toThrow('nova: the catalog has no "compute" service');
  });
});
