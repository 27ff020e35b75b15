import { expect, it } from 'vitest';
import type { PortVerdict } from '../../../plan/plan.ts';
import { PackedVerdicts } from './verdicts.ts';

const uuid = '4f0d1c7e-52a1-4a05-8f3e-0b9a8d2f6c11';
const message = '상태 BUILD 😀';
const verdicts: PortVerdict[] = [
  { portId: uuid, serverId: 's2', address: '10.0.0.1', nic: 'multinic0' },
  { portId: 'p2', serverId: 's2', address: 'fd00::1', reason: 'PortStatus', message },
  { portId: 'P3', serverId: 's1', nic: 'eth-other', reason: 'PortNotPlugged', message },
  { portId: 'p4', serverId: 's1', reason: 'SubnetNotSelected', message: 'no address' },
  { portId: 'p5', serverId: 's1', nic: 'multinic01' },
];

it('verdicts are unchanged after packing and unpacking, and in the same order', async () => {
  expect((await PackedVerdicts.of(verdicts)).all()).toEqual(verdicts);
});

it('finds a verdict by server and port: a port on another server has none', async () => {
  const packed = await PackedVerdicts.of(verdicts);
  expect(packed.find('s2', 'p2')).toEqual(verdicts[1]);
  expect(packed.find('s1', 'p2')).toBeUndefined();
  expect(packed.find('s3', 'p2')).toBeUndefined();
});
