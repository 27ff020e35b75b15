import type { Cloud } from '../../openstack/cloud.ts';
import type { Port, ServerRecord } from '../../openstack/resources.ts';
import { calculateInSteps } from '../../plan/calculate.ts';
import {
  isPlugged,
  type MissingPortState,
  type PortEvidence,
  type Question,
} from '../../plan/observation.ts';
import type { Plan, PlanInput } from '../../plan/plan.ts';
import { inSlices } from '../../process/slices.ts';
import { isRequestError } from '../../requests/request-error.ts';
import type { Clock, Random } from '../../time/clock.ts';
import type { CloudView, ServersSeen } from '../observe/cloud-view.ts';
import type { Seen } from '../observe/observe.ts';
import type { RecentPorts } from '../observe/recent-ports.ts';
import type { ServerSelector } from '../resolve/servers.ts';
import { randomSample } from './random-sample.ts';
import type { SyncRequest } from './request.ts';
import { readServer, readServerEvidence } from './server-evidence.ts';

/** The input of a plan, with everything that was seen and nothing that was proven yet. */
export function planInput(
  request: SyncRequest,
  { servers, subnets, look, held, ...known }: Seen & Pick<PlanInput, 'recorded' | 'recentRemovals'>,
): PlanInput {
  const { config, source, extent, cloudInterfaces, allowRemovals, takeOverFrom, force } = request;
  return {
    owner: source,
    takeOverFrom,
    selection: {
      serverIds: servers.ids,
      serversComplete: servers.complete,
      subnetIds: subnets.ids,
      subnetsComplete: subnets.found.length === subnets.ids.length,
      pinned: { servers: servers.pinned, subnets: config.subnets.kind === 'ids' },
      statuses: config.statuses,
      createdAfter: config.createdAfter,
      maxInterfaces: config.maxInterfaces,
      addressFamilies: config.addressFamilies,
      routing: config.routing,
      nodeNameKey: config.nodeNameKey,
    },
    scope: extent.scope,
    observation: look.observation,
    held,
    evidence: [],
    serverEvidence: [],
    cloudInterfaces: cloudInterfaces(held),
    recorded: known.recorded,
    recentRemovals: known.recentRemovals,
    removals: allowRemovals ? 'allowed' : 'guarded',
    ...(config.viola.compatibility === 'legacy' ? { keepsNodes: true } : {}),
    force,
  };
}

/** A plan with what it was made of. */
export interface Planned {
  readonly input: PlanInput;
  readonly plan: Plan;
  /** Whether everything that the plan asked for could be read. */
  readonly evidenceComplete: boolean;
}

interface ProveDeps {
  readonly random: Random;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Makes the plan without evidence. */
  readonly plan: (input: PlanInput, signal: AbortSignal) => Promise<Plan>;
}

/** Plans, and where the plan asks for evidence about delivered ports or servers, reads it and plans again. */
export async function prove(
  input: PlanInput,
  view: Pick<CloudView, 'cloud' | 'recentPorts' | 'serversSeen'> & {
    readonly selector: ServerSelector;
  },
  { random, clock, plan: first }: ProveDeps,
  signal: AbortSignal,
): Promise<Planned> {
  const plan = await first(input, signal);
  const { ask, askServers } = plan;
  if (ask.length + askServers.length === 0) return { input, plan, evidenceComplete: true };
  const { observation } = input;
  const witness = { ...view, listed: observation.ports };
  const [{ verdicts, found, complete }, servers] = await Promise.all([
    readEvidence(witness, ask, random, signal),
    readServerEvidence(view, view.selector, askServers, random, signal),
  ]);
  const read = new Set(found.map(({ id }) => id));
  const ports = [...observation.ports.filter(({ id }) => !read.has(id)), ...found];
  const { serverEvidence } = servers;
  const seen = { ...observation, ports };
  const wiser = { ...input, observation: seen, evidence: verdicts, serverEvidence };
  const evidenceComplete = complete && servers.complete;
  const wiserPlan = await inSlices(calculateInSteps(wiser), clock, signal);
  return { input: wiser, plan: wiserPlan, evidenceComplete };
}

/** Ports read by id in one sync; what is left over waits for the next one. */
export const questionsPerSync = 50;
const readsAtOnce = 4;

/** Who is asked for evidence, and what was seen already. */
export interface Witness {
  readonly cloud: Pick<Cloud, 'port' | 'portsWithMac' | 'server' | 'wasDeleted'>;
  readonly recentPorts: RecentPorts;
  readonly serversSeen: Pick<ServersSeen, 'sawOwn'>;
  /** The ports as they were listed in this sync. */
  readonly listed: readonly Pick<Port, 'deviceId' | 'deviceOwner' | 'macAddress' | 'fixedIps'>[];
}

interface Evidence {
  readonly verdicts: readonly PortEvidence[];
  /** Ports as they were read by id. */
  readonly found: readonly Port[];
  /** False when a read failed, or when more was asked than one sync reads. */
  readonly complete: boolean;
}

/**
 * Reads the evidence for or against removals (design 3.2), at most `questionsPerSync` of it, chosen at random so that no
 * port waits for ever behind others that stay unclear. A read that fails proves nothing.
 */
export async function readEvidence(
  witness: Witness,
  questions: readonly Question[],
  random: Random,
  signal: AbortSignal,
): Promise<Evidence> {
  const asked = randomSample(questions, questionsPerSync, random);
  const reader = createReader(witness, signal);
  const verdicts: PortEvidence[] = [];
  const found: Port[] = [];
  let complete = asked.length === questions.length;
  const queue = asked.values();
  const work = async (): Promise<void> => {
    for (const question of queue) {
      const answer = await judge(reader, question).catch((error: unknown): Answer => {
        signal.throwIfAborted();
        if (!isRequestError(error)) throw error;
        complete = false;
        return { verdict: 'unconfirmed' };
      });
      verdicts.push({ ...question, verdict: answer.verdict });
      if (answer.port) found.push(answer.port);
    }
  };
  await Promise.all(Array.from({ length: Math.min(readsAtOnce, asked.length) }, work));
  return { verdicts, found, complete };
}

interface Answer {
  readonly verdict: MissingPortState;
  readonly port?: Port | undefined;
}

interface Reader {
  port(question: Question): Promise<Port | undefined>;
  nicOf(serverId: string): Promise<ServerRecord | 'deleted' | 'unknown'>;
  recordHas(server: ServerRecord, macAddress: string): boolean | undefined;
  isSettling(portId: string): boolean;
}

async function judge(reader: Reader, question: Question): Promise<Answer> {
  const { serverId, macAddress } = question;
  const port = await reader.port(question);
  if (port) {
    return { verdict: port.deviceId === serverId ? 'stillAttached' : 'attachedElsewhere', port };
  }
  const server = await reader.nicOf(serverId);
  if (server === 'deleted') return { verdict: 'serverDeleted' };
  if (server === 'unknown') return { verdict: 'unconfirmed' };
  const isSettling = question.portId !== undefined && reader.isSettling(question.portId);
  const plugged = reader.recordHas(server, macAddress);
  return { verdict: plugged === false && !isSettling ? 'portGone' : 'unconfirmed' };
}

/** Reads of one sync: several ports of a server share what is read about it. */
function createReader(
  { cloud, recentPorts, serversSeen, listed }: Witness,
  signal: AbortSignal,
): Reader {
  const servers = new Map<string, ReturnType<Reader['nicOf']>>();

  return {
    async port({ portId, macAddress, serverId }) {
      if (portId !== undefined) {
        const read = await cloud.port(portId, signal);
        if (read.kind === 'notFound') return undefined;
        const port = recentPorts.latest(read.value);
        // What is listed later may be older.
        recentPorts.note(port, undefined);
        return port;
      }
      const ports = await cloud.portsWithMac(macAddress, signal);
      // A MAC is unique in its network only: one that is elsewhere may be somebody else's.
      return ports.find(({ deviceId }) => deviceId === serverId);
    },
    isSettling: (portId) => recentPorts.isSettling(portId),
    async nicOf(serverId) {
      const read = servers.get(serverId) ?? readServer({ cloud, serversSeen }, serverId, signal);
      servers.set(serverId, read);
      return read;
    },
    recordHas({ id, macAddresses }, macAddress) {
      if (macAddresses === undefined) return undefined;
      if (macAddresses.includes(macAddress)) return true;
      // A record that lacks what Nova plugged is late or lost; what else it lacks proves nothing.
      const others = listed.filter(
        (port) => port.deviceId === id && isPlugged(port) && port.fixedIps.length > 0,
      );
      return others.every((port) => macAddresses.includes(port.macAddress)) ? false : undefined;
    },
  };
}
