import type { PortVerdict } from '../../../plan/plan.ts';
import { inTurns } from '../../../process/slices.ts';
import { packedId, packedName, unpackedId, unpackedName } from './ids.ts';
import { oneByteText, SharedTexts } from './texts.ts';

type PackedVerdict = readonly [
  portId: string,
  nic: number | string | null,
  address: string | null,
  /** Shared text with reason and message; absent: neither. */
  why?: number,
];

type Why = Pick<PortVerdict, 'reason' | 'message'>;

/** Verdicts for the ports in a plan: a string per server, because objects would take four times as much. */
export class PackedVerdicts {
  /** By server id. */
  readonly #servers: ReadonlyMap<string, string>;
  readonly #texts: SharedTexts;

  private constructor(servers: ReadonlyMap<string, string>, texts: SharedTexts) {
    this.#servers = servers;
    this.#texts = texts;
  }

  /** Packs verdicts, in turns of the event loop. */
  static async of(verdicts: readonly PortVerdict[]): Promise<PackedVerdicts> {
    const texts = new SharedTexts();
    const byServer = [...Map.groupBy(verdicts, ({ serverId }) => serverId)];
    const packed = await inTurns(byServer, ([serverId, ofServer]): [string, string] => [
      serverId,
      oneByteText(JSON.stringify(ofServer.map((verdict) => pack(verdict, texts)))),
    ]);
    return new PackedVerdicts(new Map(packed), texts);
  }

  /** Returns the verdict for a port on a server; undefined: the plan had no such port there. */
  find(serverId: string, portId: string): PortVerdict | undefined {
    return this.#unpack(serverId).find((verdict) => verdict.portId === portId);
  }

  /** Returns all verdicts, server by server in their former order. */
  all(): PortVerdict[] {
    return [...this.#servers.keys()].flatMap((serverId) => this.#unpack(serverId));
  }

  #unpack(serverId: string): PortVerdict[] {
    const packed = JSON.parse(this.#servers.get(serverId) ?? '[]') as PackedVerdict[];
    return packed.map(([portId, nic, address, why]) => ({
      portId: unpackedId(portId),
      serverId,
      ...(address === null ? {} : { address }),
      ...(nic === null ? {} : { nic: unpackedName(nic) }),
      ...(why === undefined ? {} : (JSON.parse(this.#texts.textOf(why)) as Why)),
    }));
  }
}

function pack(verdict: PortVerdict, texts: SharedTexts): PackedVerdict {
  const { portId, nic, address = null, reason, message } = verdict;
  const [id, name] = [packedId(portId), nic === undefined ? null : packedName(nic)];
  if (reason === undefined && message === undefined) return [id, name, address];
  return [id, name, address, texts.numberOf(JSON.stringify({ reason, message }))];
}
