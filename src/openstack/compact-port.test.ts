import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { compactPorts } from './compact-port.ts';
import { flawedPort, type Port } from './resources.ts';

const port: Port = {
  id: '4f0d1c7e-52a1-4a05-8f3e-0b9a8d2f6c11',
  name: '',
  networkId: 'net',
  macAddress: 'fa:16:3e:00:00:01',
  status: 'ACTIVE',
  deviceId: 'server',
  deviceOwner: 'compute:nova',
  createdAt: '2026-01-02T00:00:00Z',
  revisionNumber: 3,
  projectId: 'project',
  fixedIps: [{ subnetId: 'lan', ipAddress: '10.0.0.1' }],
};

/** A port for each field with another value. */
const changes: Readonly<Record<Exclude<keyof Port, 'flaw'>, Port>> = {
  id: { ...port, id: 'p2' },
  name: { ...port, name: '포트 😀' },
  networkId: { ...port, networkId: 'other' },
  macAddress: { ...port, macAddress: 'fa:16:3e:00:00:02' },
  status: { ...port, status: 'DOWN' },
  deviceId: { ...port, deviceId: '' },
  deviceOwner: { ...port, deviceOwner: '' },
  createdAt: { ...port, createdAt: undefined },
  revisionNumber: { ...port, revisionNumber: 4 },
  projectId: { ...port, projectId: '' },
  fixedIps: {
    ...port,
    fixedIps: [
      { subnetId: 'lan', ipAddress: '10.0.0.1' },
      { subnetId: 'lan-6', ipAddress: 'fd00::1' },
    ],
  },
};
const unusual: Readonly<Record<string, Port>> = {
  'without addresses': { ...port, fixedIps: [] },
  'with swapped subnets': { ...port, fixedIps: [{ subnetId: '10.0.0.1', ipAddress: 'lan' }] },
  'with a blank in an address': { ...port, fixedIps: [{ subnetId: 'lan', ipAddress: '10 .0' }] },
  'with a line break in its name': { ...port, name: 'two\nlines' },
  'with an empty creation time': { ...port, createdAt: '' },
  'with a flaw': flawedPort({ id: 'p', device_id: 's' }, 'fixed_ips'),
};
const all = Object.entries({ port, ...changes, ...unusual });

/** Returns a port's fields as a plain object. */
function fieldsOf(read: Port): Port {
  const names = [...Object.keys(port), 'flaw'] as (keyof Port)[];
  const fields = names.map((name) => [name, read[name]] as const);
  return Object.fromEntries(fields.filter(([name, value]) => name !== 'flaw' || value)) as never;
}

describe('compactPorts', () => {
  it.each(all)('a compact port has every value of the listed port: %s', (_, listed) => {
    expect(fieldsOf(compactPorts()(listed))).toEqual(listed);
  });

  it('isDeepStrictEqual distinguishes compact ports from different answers by each field', () => {
    const equal = all.flatMap(([a, one]) =>
      all
        .filter(([, other]) => isDeepStrictEqual(compactPorts()(one), compactPorts()(other)))
        .map(([b]) => `${a} = ${b}`),
    );
    expect(equal).toEqual(all.map(([name]) => `${name} = ${name}`));
  });
});
