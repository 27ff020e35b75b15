import type { Cloud } from '../../openstack/cloud.ts';
import type { Found, Port } from '../../openstack/resources.ts';
import type { PortEvidence, Verdict } from '../../plan/observation.ts';
import type { Question } from '../../plan/plan.ts';
import { isRequestError } from '../../requests/request-error.ts';
import type { Random } from '../../time/clock.ts';

/** Ports read by id in one sync; what is left over waits for the next one. */
export const questionsPerSync = 50;
const readsAtOnce = 4;

type Witness = Pick<Cloud, 'port' | 'interfacesOf' | 'server' | 'subnet'>;

export interface Evidence {
  readonly verdicts: readonly PortEvidence[];
  /** Ports that the list had lost. */
  readonly found: readonly Port[];
}

/**
 * Reads the evidence for or against removals (design 3.2), at most `questionsPerSync` of it, chosen at random so that no
 * port waits for ever behind others that stay unclear. A read that fails proves nothing.
 */
export async function readEvidence(
  cloud: Witness,
  questions: readonly Question[],
  random: Random,
  signal: AbortSignal,
): Promise<Evidence> {
  const asked = sample(questions, questionsPerSync, random);
  const reader = remembering(cloud, signal);
  const verdicts: PortEvidence[] = [];
  const found: Port[] = [];
  const queue = asked.values();
  const work = async (): Promise<void> => {
    for (const question of queue) {
      const answer = await judge(reader, question).catch((error: unknown) => {
        signal.throwIfAborted();
        if (!isRequestError(error)) throw error;
        return { verdict: 'unconfirmed' } as const;
      });
      const { portId, serverId } = question;
      verdicts.push({ portId, serverId, verdict: answer.verdict });
      if ('port' in answer) found.push(answer.port);
    }
  };
  await Promise.all(Array.from({ length: Math.min(readsAtOnce, asked.length) }, work));
  return { verdicts, found };
}

type Answer =
  | { readonly verdict: 'stillAttached'; readonly port: Port }
  | { readonly verdict: Exclude<Verdict, 'stillAttached'> };

interface Reader {
  port(id: string): Promise<Found<Port>>;
  hasPort(serverId: string, portId: string): Promise<boolean | undefined>;
  isDeleted(serverId: string): Promise<'deleted' | 'missing' | 'there'>;
  seesSubnet(id: string): Promise<boolean>;
}

async function judge(reader: Reader, { portId, serverId, subnetId }: Question): Promise<Answer> {
  const port = await reader.port(portId);
  if (port.kind === 'found') {
    return port.value.deviceId === serverId
      ? { verdict: 'stillAttached', port: port.value }
      : { verdict: 'attachedElsewhere' };
  }
  const plugged = await reader.hasPort(serverId, portId);
  if (plugged !== undefined) return { verdict: plugged ? 'unconfirmed' : 'portGone' };
  const server = await reader.isDeleted(serverId);
  if (server === 'deleted') return { verdict: 'serverDeleted' };
  // Port and server are both 404: that proves something only while this account still sees the project.
  const sees =
    server === 'missing' && subnetId !== undefined && (await reader.seesSubnet(subnetId));
  return { verdict: sees ? 'serverDeleted' : 'unconfirmed' };
}

/** Reads of one sync: several ports of a server share what is read about it. */
function remembering(cloud: Witness, signal: AbortSignal): Reader {
  const interfaces = once((id) => cloud.interfacesOf(id, signal));
  const servers = once((id) => cloud.server(id, signal));
  const subnets = once((id) => cloud.subnet(id, signal, { fresh: true }));
  return {
    port: async (id) => cloud.port(id, signal),
    async hasPort(serverId, portId) {
      const nics = await interfaces(serverId);
      return nics.kind === 'found' ? nics.value.some((nic) => nic.portId === portId) : undefined;
    },
    async isDeleted(serverId) {
      const server = await servers(serverId);
      if (server.kind === 'notFound') return 'missing';
      return server.value.status === 'DELETED' ? 'deleted' : 'there';
    },
    seesSubnet: async (id) => (await subnets(id)).kind === 'found',
  };
}

function once<T>(read: (id: string) => Promise<T>): (id: string) => Promise<T> {
  const reads = new Map<string, Promise<T>>();
  return async (id) => {
    const known = reads.get(id) ?? read(id);
    reads.set(id, known);
    return known;
  };
}

function sample<T>(items: readonly T[], count: number, random: Random): T[] {
  if (items.length <= count) return [...items];
  return items
    .map((item) => ({ item, order: random() }))
    .toSorted((a, b) => a.order - b.order)
    .slice(0, count)
    .map(({ item }) => item);
}
