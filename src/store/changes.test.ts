import { expect, it } from 'vitest';
import { changesBetween } from './changes.ts';

function nic(portId: string | undefined, mac: string) {
  return { id: 0, macAddress: `fa:16:3e:00:00:0${mac}`, ...(portId ? { portId } : {}) };
}

it.each<[string, ReturnType<typeof nic>[], ReturnType<typeof nic>[], string[]]>([
  ['another port with this MAC', [nic('p5', 'a')], [nic('p6', 'A')], ['port-replaced p5 p6']],
  [
    'two ports with swapped MACs',
    [nic('p5', 'a'), nic('p6', 'b')],
    [nic('p7', 'b'), nic('p8', 'a')],
    ['port-replaced p5 p8', 'port-replaced p6 p7'],
  ],
  ['its port id in upper case', [nic('p5', 'a')], [nic('P5', 'a')], ['changed p5 P5']],
  ['a first port id', [nic(undefined, 'a')], [nic('p5', 'a')], ['changed - p5']],
  ['another MAC for its port', [nic('p5', 'a')], [nic('p5', 'b')], ['changed p5 p5']],
  [
    'its port with the MAC of a removed port',
    [nic('p5', 'a'), nic('p6', 'b')],
    [nic('p6', 'a')],
    ['removed p5 -', 'changed p6 p6'],
  ],
  ['another port and MAC', [nic('p5', 'a')], [nic('p6', 'b')], ['removed p5 -', 'added - p6']],
  ['nothing new', [nic('p5', 'a'), nic(undefined, 'b')], [nic(undefined, 'b'), nic('p5', 'a')], []],
])(
  'changesBetween compares the ports and MACs of a NIC that gets %s',
  (_, before, after, changes) => {
    const found = changesBetween(before, after).map(
      (one) => `${one.change} ${one.before?.portId ?? '-'} ${one.after?.portId ?? '-'}`,
    );
    expect(found).toEqual(changes);
  },
);
