import { expect, it } from 'vitest';
import { calculate } from './calculate.ts';
import { missingPorts } from './missing-ports.ts';
import { entry, held, input, port, server } from './sample.ts';

const given = input({
  selection: { serverIds: ['s1', 's2'] },
  servers: [server(1), server(2)],
  ports: [port(1, 's1'), port(2, 's2')],
  held: [
    held(1, [entry(1, 0), entry(2, 1), entry(3, 2)]),
    held(9, [entry(4, 0)]),
    held(2, [entry(5, 0)], { source: { namespace: 'x', name: 'y', uid: 'z', generation: 1 } }),
  ],
});

it('are those of selected servers that were seen elsewhere or not at all', () => {
  expect(missingPorts(given)).toEqual([
    { portId: 'p2', serverId: 's1', subnetId: 'sub-a' },
    { portId: 'p3', serverId: 's1', subnetId: 'sub-a' },
  ]);
  expect(missingPorts(given)).toEqual(calculate(given).ask);
});

it('are only those of servers in scope', () => {
  expect(missingPorts({ ...given, scope: ['s2'] })).toEqual([]);
});
