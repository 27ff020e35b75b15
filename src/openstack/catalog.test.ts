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

test('an endpoint without a URL costs no other endpoint', () => {
  const good = { interface: 'public', region: 'One', url: 'http://one' };
  const wire = [{ type: 'network', endpoints: [{ ...good, url: null }, null, good] }];
  expect(endpointUrl(catalogSchema.parse(wire), network)).toBe('http://one');
});

describe('the endpoint of a service', () => {
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

  test('stays the same, in whichever order the catalog names the regions from then on', () => {
    const choose = createEndpoint(network, rules);
    expect(choose(catalog)).toBe('http://one-public');
    expect(choose(catalog.toReversed())).toBe('http://one-public');
  });

  test('that the catalog no longer names is not replaced by that of another region', () => {
    const moved: string[] = [];
    const choose = createEndpoint(network, { ...rules, onMoved: () => moved.push('moved') });
    choose(catalog);
    expect(() => choose(catalog.slice(1))).toThrow(
      'neutron: the catalog no longer names "http://one-public"',
    );
    expect(moved).toEqual(['moved']);
  });

  test('is not called when the policy forbids it', () => {
    const choose = createEndpoint(network, { ...rules, denied: () => 'is a link-local address' });
    expect(() => choose(catalog)).toThrow(
      'neutron: the catalog names "http://one-public", which is a link-local address',
    );
  });

  test('that the policy forbade is called where the catalog names it once that is mended', () => {
    const choose = createEndpoint(network, { ...rules, denied: refusesOne });
    expect(() => choose(catalog)).toThrow('which is one');
    expect(choose(catalog.slice(1))).toBe('http://two-public');
  });
});
