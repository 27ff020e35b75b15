import { expect, it } from 'vitest';
import { knownNics } from './known-nics.ts';
import type { NodeConfigStatus } from './multinicnodeconfig.ts';

const mac = 'fa:16:3e:00:00:01';
const knownInterfaces = [{ id: 0, macAddress: mac.toUpperCase() }];
const record = { objectUid: 'u', requested: [mac], knownFrom: { uid: 'u', job: 'j' }, done: true };
const earlier = { objectUid: 'u', done: true, macs: [mac] };
const legacy: NodeConfigStatus = {
  state: 'Configured',
  conditions: [{ type: 'Ready', status: 'True', reason: 'JobSucceeded' }],
  interfaceStatuses: [{ id: 0, macAddress: mac, status: 'Configured' }],
};

it.each<[string, NodeConfigStatus | undefined, string[] | 'unread']>([
  ['are unread without a status', undefined, 'unread'],
  ['are unread without a record', { knownInterfaces }, 'unread'],
  ['are those that a run for the object listed', { applied: record, knownInterfaces }, [mac]],
  ['are none if a run listed none', { applied: record }, []],
  [
    'are unread if a run for another uid listed them',
    { applied: { ...record, knownFrom: { uid: 'v', job: 'j' } }, knownInterfaces },
    'unread',
  ],
  [
    'are unread before the first result on another machine',
    { applied: { objectUid: 'u', requested: [mac] }, knownInterfaces },
    'unread',
  ],
  [
    'are unread after an agent worked for another object',
    { applied: { ...record, undone: true }, knownInterfaces },
    'unread',
  ],
  ['are those of a record of an earlier version', { applied: earlier, knownInterfaces }, [mac]],
  ['are the applied NICs of a record without a list', { applied: earlier }, [mac]],
  [
    'are unread for a record of an earlier version with another uid',
    { applied: { ...earlier, objectUid: 'v' }, knownInterfaces },
    'unread',
  ],
  ['are those that the legacy controller lists', legacy, [mac]],
  ['are none if the legacy controller lists none', { ...legacy, interfaceStatuses: [] }, []],
  [
    'are unread if the legacy controller has no list',
    { state: 'InProgress', conditions: legacy.conditions },
    'unread',
  ],
])('the NICs of a node %s', (_, status, wanted) => {
  const known = knownNics({ uid: 'u' }, status);
  expect(known.kind === 'read' ? known.nics.map((nic) => nic.mac) : known.kind).toEqual(wanted);
});
