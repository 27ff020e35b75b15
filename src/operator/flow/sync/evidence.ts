import type { Cloud } from '../../../openstack/cloud.ts';
import type { Port, ServerRecord } from '../../../openstack/resources.ts';
import { type Calculation, calculateInSteps } from '../../../plan/calculate.ts';
import {
  isPlugged,
  type MissingPortState,
  type PortEvidence,
  type Question,
} from '../../../plan/observation.ts';
import type { Plan, PlanInput } from '../../../plan/plan.ts';
import { inSlices } from '../../../process/slices.ts';
import { isRequestError } from '../../../requests/request-error.ts';
import type { Clock, Random } from '../../../time/clock.ts';
import type { CloudView, ObservedServers } from '../../cloud/observe/cloud-view.ts';
import type { RecentPorts } from '../../cloud/observe/recent-ports.ts';
import type { ServerSelector } from '../../model/resolve/servers.ts';
import { randomSample } from './random-sample.ts';
import { readServer, readServerEvidence } from './server-evidence.ts';

/** A plan with its input. */
export interface Planned {
  readonly input: PlanInput;
  readonly plan: Plan;
  /** Whether all evidence for the plan was read. */
  readonly evidenceComplete: boolean;
}

interface EvidenceDeps {
  readonly random: Random;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Plans without evidence. */
  readonly plan: (input: PlanInput, signal: AbortSignal) => Promise<Calculation>;
}

/** Plans. If the plan needs evidence about delivered ports or servers, reads the evidence and plans again. */
export async function planWithEvidence(
  input: PlanInput,
  view: Pick<CloudView, 'cloud' | 'recentPorts' | 'observedServers'> & {
    readonly selector: ServerSelector;
  },
  { random, clock, plan: first }: EvidenceDeps,
  signal: AbortSignal,
): Promise<Planned> {
  const { plan, nodePlans } = await first(input, signal);
  const { ask, askServers } = plan;
  if (ask.length + askServers.length === 0) return { input, plan, evidenceComplete: true };
  const { observation } = input;
  const witness = { ...view, listed: observation.ports };
  const live = observation.servers.filter(({ status }) => !status.endsWith('DELETED'));
  const liveNames = new Set(live.map(({ name }) => name));
  const [{ verdicts, found, complete }, servers] = await Promise.all([
    readEvidence(witness, ask, random, signal),
    readServerEvidence({ ...witness, liveNames }, view.selector, askServers, random, signal),
  ]);
  const read = new Set(found.map(({ id }) => id));
  const ports = [...observation.ports.filter(({ id }) => !read.has(id)), ...found];
  const { serverEvidence } = servers;
  const observed = { ...observation, ports };
  const withEvidence = { ...input, observation: observed, evidence: verdicts, serverEvidence };
  const steps = calculateInSteps(withEvidence, nodePlans);
  return {
    input: withEvidence,
    plan: (await inSlices(steps, clock, signal)).plan,
    evidenceComplete: complete && servers.complete,
  };
}

/** Most ports read by id per sync; remaining ports wait for the next sync. */
export const questionsPerSync = 50;
const readsAtOnce = 4;

/** Sources of evidence. */
export interface Witness {
  readonly cloud: Pick<Cloud, 'port' | 'portsWithMac' | 'server' | 'wasDeleted'>;
  readonly recentPorts: RecentPorts;
  readonly observedServers: Pick<ObservedServers, 'hasObservedOwn'>;
  /** Ports from this sync's list. */
  readonly listed: readonly Pick<
    Port,
    'id' | 'deviceId' | 'deviceOwner' | 'macAddress' | 'fixedIps'
  >[];
}

interface Evidence {
  readonly verdicts: readonly PortEvidence[];
  /** Ports read by id. */
  readonly found: readonly Port[];
  /** False if a read failed, or if the plan needs more evidence than one sync reads. */
  readonly complete: boolean;
}

/**
 * Reads evidence for or against removals (design 3.2), for at most `questionsPerSync` ports. Ports are chosen
 * at random, because in a fixed order ports that stay unclear would block later ports. A failed read proves
 * nothing.
 */
export async function readEvidence(
  witness: Witness,
  questions: readonly Question[],
  random: Random,
  signal: AbortSignal,
): Promise<Evidence> {
  const sample = randomSample(questions, questionsPerSync, random);
  const reader = createReader(witness, signal);
  const verdicts: PortEvidence[] = [];
  const found: Port[] = [];
  let complete = sample.length === questions.length;
  const queue = sample.values();
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
  await Promise.all(Array.from({ length: Math.min(readsAtOnce, sample.length) }, work));
  return { verdicts, found, complete };
}

interface Answer {
  readonly verdict: MissingPortState;
  readonly port?: Port | undefined;
}

interface Reader {
  port(question: Question): Promise<Port | undefined>;
  nicOf(serverId: string): Promise<ServerRecord | 'deleted' | 'unknown'>;
  recordHas(server: ServerRecord, question: Question): boolean | undefined;
  isSettling(portId: string): boolean;
}

async function judge(reader: Reader, question: Question): Promise<Answer> {
  const { serverId } = question;
  const port = await reader.port(question);
  if (port) {
    return { verdict: port.deviceId === serverId ? 'stillAttached' : 'attachedElsewhere', port };
  }
  const server = await reader.nicOf(serverId);
  if (server === 'deleted') return { verdict: 'serverDeleted' };
  if (server === 'unknown') return { verdict: 'unconfirmed' };
  const isSettling = question.portId !== undefined && reader.isSettling(question.portId);
  const hasMac = reader.recordHas(server, question);
  return { verdict: hasMac === false && !isSettling ? 'portGone' : 'unconfirmed' };
}

/** Creates one sync's reader: ports on the same server share the server read. */
function createReader(
  { cloud, recentPorts, observedServers, listed }: Witness,
  signal: AbortSignal,
): Reader {
  const servers = new Map<string, ReturnType<Reader['nicOf']>>();

  return {
    async port({ portId, macAddress, serverId }) {
      if (portId !== undefined) {
        const read = await cloud.port(portId, signal);
        if (read.kind === 'notFound') return undefined;
        const port = recentPorts.latest(read.value);
        // A later list may come from an older database.
        recentPorts.note(port, undefined);
        return port;
      }
      const ports = await cloud.portsWithMac(macAddress, signal);
      // A MAC is unique only within its network: a port on a different server may be a different port.
      return ports.find(({ deviceId }) => deviceId === serverId);
    },
    isSettling: (portId) => recentPorts.isSettling(portId),
    async nicOf(serverId) {
      const read =
        servers.get(serverId) ?? readServer({ cloud, observedServers }, serverId, signal);
      servers.set(serverId, read);
      return read;
    },
    recordHas({ id, macAddresses }, { portId, macAddress }) {
      if (macAddresses === undefined) return undefined;
      const plugged = listed.filter(
        (port) => port.deviceId === id && isPlugged(port) && port.fixedIps.length > 0,
      );
      // The record also has the MACs of other listed ports, such as a port made again with this MAC.
      const others = plugged.filter((p) => p.macAddress === macAddress && p.id !== portId);
      const recorded = macAddresses.filter((mac) => mac === macAddress);
      if (recorded.length > others.length) return true;
      // A record without a listed plugged port is late or lost, and proves nothing.
      return plugged.every((port) => macAddresses.includes(port.macAddress)) ? false : undefined;
    },
  };
}
