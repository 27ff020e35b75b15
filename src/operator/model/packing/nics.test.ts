import { expect, it } from 'vitest';
import { packNics, unpackNics } from './nics.ts';

it('NICs are unchanged after packing and unpacking, also with missing fields and unusual values', () => {
  const portId = '4f0d1c7e-52a1-4a05-8f3e-0b9a8d2f6c11';
  const nics = [
    { id: 0, name: 'multinic0', portId, macAddress: 'fa:16:3e:00:00:01' },
    { name: 'multinic1', portId: 'P-1', macAddress: 'FA:16:3E:00:00:02' },
    { id: 3, macAddress: 'fa:16:3e:00:00:03' },
    { name: '네트워크', portId: '', macAddress: '' },
  ];
  expect(unpackNics(packNics(nics))).toEqual(nics);
});
