import type { RecordedNode } from '../../../plan/plan.ts';
import { packedId, packedMac, packedName, unpackedId, unpackedMac, unpackedName } from './ids.ts';
import { oneByteText } from './texts.ts';

type Nic = RecordedNode['interfaces'][number];

type PackedNic = readonly [
  portId: string | null,
  mac: string,
  name: number | string | null,
  id?: number,
];

/** Packs the fields that decide the names of a server's NICs: as objects, they take four times as much. */
export function packNics(nics: readonly Nic[]): string {
  return oneByteText(JSON.stringify(nics.map(pack)));
}

export function unpackNics(packed: string): Nic[] {
  return (JSON.parse(packed) as PackedNic[]).map(([portId, mac, name, id]) => ({
    ...(id === undefined ? {} : { id }),
    ...(name === null ? {} : { name: unpackedName(name) }),
    ...(portId === null ? {} : { portId: unpackedId(portId) }),
    macAddress: unpackedMac(mac),
  }));
}

function pack({ portId, macAddress, name, id }: Nic): PackedNic {
  const packed = [
    portId === undefined ? null : packedId(portId),
    packedMac(macAddress),
    name === undefined ? null : packedName(name),
  ] as const;
  return id === undefined ? packed : [...packed, id];
}
