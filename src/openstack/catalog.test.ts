import { describe, expect, test } from 'vitest';
import { type Catalog, catalogSchema, createEndpoint, type EndpointChoice } from './catalog.ts';

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

const refusesOne = (url: string) => (url === 'http://one-public' ? 'is one' : undefined);
const rules = { denied: () => undefined, onMoved: () => undefined };

function endpointUrl(named: Catalog, choice: EndpointChoice): string {
  return createEndpoint(choice, rules)(named);
}

test.each([
  [
    'type',
    [
      { type: null, endpoints: [] },
      { type: 'network', endpoints: [] },
    ],
    ['network'],
  ],
  ['endpoints', [{ type: 'image', endpoints: null }, { type: 'network' }], ['image', 'network']],
  ['entry', [null, 'x', { type: 'network' }], ['network']],
])('a catalog with a malformed %s keeps its other entries', (_, wire, types) => {
  expect(catalogSchema.parse(wire).map(({ type }) => type)).toEqual(types);
});

test('an endpoint without a URL leaves the other endpoints usable', () => {
  const good = { interface: 'public', region: 'One', url: 'http://one' };
  const wire = [{ type: 'network', endpoints: [{ ...good, url: null }, null, good] }];
  expect(endpointUrl(catalogSchema.parse(wire), network)).toBe('http://one');
});

describe('createEndpoint', () => {
  test('an endpoint without a region setting is the first for its interface', () => {
    expect(endpointUrl(catalog, network)).toBe('http://one-public');
    expect(endpointUrl(catalog, { ...network, region: '' })).toBe('http://one-public');
  });

  test('createEndpoint searches all catalog entries with the service type and ignores case', () => {
    expect(endpointUrl(catalog, { ...network, region: 'two' })).toBe('http://two-public');
    expect(endpointUrl(catalog, { ...network, interface: 'Internal' })).toBe('http://one-internal');
  });

  test('an unknown region is an error listing the existing regions; no other region is used', () => {
    expect(() => endpointUrl(catalog, { ...network, region: 'Three' })).toThrow(
      'neutron: no "network" endpoint in region "Three"; regions of the catalog: "One", "Two"',
    );
  });

  test('an unknown interface is an error listing the existing interfaces; no other interface is used', () => {
    expect(() => endpointUrl(catalog, { ...network, interface: 'admin', region: 'One' })).toThrow(
      'neutron: no admin "network" endpoint; interfaces of the catalog: "internal", "public"',
    );
  });

  test('a service without endpoints counts as missing from the catalog', () => {
    expect(() =>
      endpointUrl(catalog, { service: 'nova', type: 'compute', interface: 'public' }),
    ).toThrow('nova: the catalog has no "compute" service');
  });

  test('the chosen endpoint stays the same when the catalog reorders its regions', () => {
    const choose = createEndpoint(network, rules);
    expect(choose(catalog)).toBe('http://one-public');
    expect(choose(catalog.toReversed())).toBe('http://one-public');
  });

  test('an endpoint removed from the catalog is an error, and no other region replaces it', () => {
    const moved: string[] = [];
    const choose = createEndpoint(network, { ...rules, onMoved: () => moved.push('moved') });
    choose(catalog);
    expect(() => choose(catalog.slice(1))).toThrow(
      'neutron: the catalog no longer has endpoint "http://one-public"',
    );
    expect(moved).toEqual(['moved']);
  });

  test('an endpoint denied by policy is never called', () => {
    const choose = createEndpoint(network, { ...rules, denied: () => 'is a link-local address' });
    expect(() => choose(catalog)).toThrow(
      'neutron: the catalog names "http://one-public", which is a link-local address',
    );
  });

  test('an endpoint denied by policy is replaced when the catalog names an allowed URL', () => {
    const choose = createEndpoint(network, { ...rules, denied: refusesOne });
    expect(() => choose(catalog)).toThrow('which is one');
    expect(choose(catalog.slice(1))).toBe('http://two-public');
  });
});
