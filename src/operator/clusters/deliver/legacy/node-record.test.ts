import { expect, it } from 'vitest';
import { existingNodeFrom } from './node-record.ts';

it('an unanswered POST with a port made again leaves a single NIC with the MAC', () => {
  const nic = { id: 0, portId: 'p1', macAddress: 'fa:16:3e:00:00:0a' };
  const author = { namespace: 'multinic-system', name: 'osc' };
  const other = { id: 1, portId: 'p2', macAddress: 'fa:16:3e:00:00:0b' };
  const record = {
    providerId: 'biz-1',
    nodeName: 'worker-1',
    instanceId: 's1',
    uid: 'legacy-open:uid-1',
    generation: 2,
    interfaces: [nic, other],
    author,
  };
  const again = { ...nic, portId: 'p1b', macAddress: 'FA:16:3E:00:00:0A' };
  expect(existingNodeFrom(record, [again]).spec.interfaces).toEqual([again, other]);
});
