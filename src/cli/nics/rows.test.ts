import { expect, it } from 'vitest';
import { node } from '../../explain/testing/healthy.ts';
import { nicRows } from './rows.ts';

it.each([
  ['is hidden', 'SubnetNotSelected', undefined, []],
  ['is listed', 'PortWithoutAddress', undefined, ['PortWithoutAddress']],
  ['is listed', 'PortTooOld', '10.50.0.9', ['PortTooOld']],
] as const)(
  'an unused port %s when its reason is %s and its address %s',
  (_, reason, address, shown) => {
    const port = { portId: 'p1', reason, message: '', ...(address ? { address } : {}) };
    const rows = nicRows(node(18, { unusedPorts: [port] }));
    expect(rows.filter(({ state }) => state === 'Unused').map((row) => row.reason)).toEqual(shown);
  },
);
