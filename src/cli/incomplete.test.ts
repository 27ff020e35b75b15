import { expect, it, vi } from 'vitest';
import { type Gate, type Outage, openGate, outages } from '../../test/fixtures/cli/gate.ts';
import { unchangedPlan } from '../../test/fixtures/cli/plans.ts';
import { answerPlan } from '../../test/fixtures/cli/played-operator.ts';
import { type CliFixture, startScene } from '../../test/fixtures/cli/scene.ts';
import { cluster, config, port } from '../explain/testing/healthy.ts';
import { createFakeClock, settled } from '../time/fake-clock.ts';
import type { ClusterChoice } from './access/kubectl.ts';
import { Session } from './access/session.ts';
import { openstackConfigs } from './facts/kinds.ts';

const clock = createFakeClock(new Date());
const gates = new Map<string, Gate>();

function gateOf(name: 'management' | 'operator' | 'business'): Gate {
  const gate = gates.get(name);
  if (!gate) throw new Error(`no gate ${name}`);
  return gate;
}

vi.mock(import('./access/kubectl.ts'), async (original) => ({
  ...(await original()),
  startProxy: ({ context }: ClusterChoice) => {
    const { port: own } = gateOf(context === 'biz-context' ? 'business' : 'management');
    const server = `http://127.0.0.1:${own}`;
    return Promise.resolve({ server, [Symbol.asyncDispose]: () => Promise.resolve() });
  },
  startPortForward: () =>
    Promise.resolve({
      localPort: gateOf('operator').port,
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }),
}));

vi.mock(import('./run-command.ts'), async (original) => ({
  ...(await original()),
  withSession: async (options, action) => {
    const { signal } = new AbortController();
    await using session = new Session(options, signal, clock);
    return action({ session, progress: { show: () => {}, [Symbol.dispose]: () => {} } });
  },
}));

/** Starts the scene with a gate before each server. */
async function startGates(): Promise<CliFixture> {
  const scene = await startScene();
  const authorization = `Bearer ${await scene.api.access.token()}`;
  gates.set('management', await openGate(scene.api.url, { authorization }));
  gates.set('business', await openGate(scene.api.url, { authorization }));
  gates.set('operator', await openGate(`http://127.0.0.1:${scene.operatorPort}`));
  await answerPlan(scene, unchangedPlan);
  return scene;
}

const commands = {
  status: ['status', '--business-context', 'biz-1=biz-context'],
  doctor: ['doctor', '--business-context', 'biz-1=biz-context'],
  why: ['why', 'worker-18/multinic1', '--business-context', 'biz-1=biz-context'],
  plan: ['plan', 'storage'],
  nodes: ['nodes'],
  nics: ['nics'],
} as const;
type Name = keyof typeof commands;

interface Source {
  readonly title: string;
  readonly outage: (scene: CliFixture, outage: Outage) => void | Promise<void>;
  /** Name in the output. */
  readonly shown: string;
  /** Commands that need no answer of the source. */
  readonly unneeded?: (outage: Outage) => readonly Name[];
}

const lists = ['plan', 'nodes', 'nics'] as const;

function isParts(path: string): boolean {
  return /\/(deployments|pods)(\?|$)/.test(path);
}

const causes: Readonly<Record<Outage, string>> = {
  refused: 'connect ECONNREFUSED 10.0.0.1:443',
  hanging: 'no answer within 10 s',
  '401': 'unexpected status 401',
  '403': 'unexpected status 403',
  garbage: 'the answer is no JSON',
};

/** Reports the failure of an OpenstackConfig as the operator does. */
async function failConfig({ client, answers }: CliFixture, reason: string, message: string) {
  const { namespace = '', name } = config.metadata;
  const conditions = [{ type: 'Ready', status: 'False', reason, message }];
  const status = { ...config.status, conditions };
  await client.patchStatus(openstackConfigs, { namespace, name }, { status });
  const configs = port.configs.map((each) => ({ ...each, ready: 'False', reason, message }));
  answers.set('GET /v1/ports', { items: [{ ...port, configs }] });
}

const sources: readonly Source[] = [
  {
    title: 'management API',
    outage: (_, outage) => void (gateOf('management').outageOf = () => outage),
    shown: 'management cluster (',
  },
  {
    title: 'Deployments and Pods',
    outage: (_, outage) =>
      void (gateOf('management').outageOf = (path) => (isParts(path) ? outage : undefined)),
    shown: 'management cluster (',
    // The Lease alone leads to the operator.
    unneeded: (outage) => (outage === '403' ? lists : []),
  },
  {
    title: 'Lease',
    outage: (_, outage) =>
      void (gateOf('management').outageOf = (path) =>
        path.includes('/leases/') ? outage : undefined),
    shown: 'management cluster (',
  },
  {
    title: 'operator API',
    outage: (_, outage) => void (gateOf('operator').outageOf = () => outage),
    shown: 'operator (port-forward ',
  },
  {
    title: 'Viola',
    outage: async (scene, outage) => {
      const message = `viola: ${causes[outage]}`;
      const { reachable: _, ...unread } = { ...cluster, message };
      scene.answers.set('GET /v1/clusters', { items: [unread] });
      const detail = `node "worker-18" could not be read: ${message}`;
      const refused = { status: 503, code: 'NodeUnread', detail };
      scene.answers.set('GET /v1/nodes/biz-1/worker-18', refused);
      await failConfig(scene, 'ViolaPostError', message);
    },
    shown: 'Viola',
  },
  {
    title: 'Keystone',
    outage: (scene, outage) => failConfig(scene, 'KeystoneError', `keystone: ${causes[outage]}`),
    shown: 'Keystone',
  },
  {
    title: 'Neutron',
    outage: async (scene, outage) => {
      await failConfig(scene, 'NeutronPortError', `neutron: ${causes[outage]}`);
      const detail = `Neutron could not be read: ${causes[outage]}`;
      scene.answers.set('GET /v1/ports', { status: 503, code: 'PortUnread', detail });
    },
    shown: 'Neutron',
  },
  {
    title: 'business API',
    outage: (_, outage) => void (gateOf('business').outageOf = () => outage),
    shown: 'business cluster (context biz-context)',
    unneeded: () => lists,
  },
];

const rows = sources.flatMap((source) =>
  outages.map((outage) => ({ ...source, kind: outage, title: `${source.title}: ${outage}` })),
);

/** Milliseconds until the first requests hang; undefined: none hangs. */
interface Hang {
  since: number | undefined;
  longest: number;
}

/** Runs a command; time moves only while no source has a request to answer. */
async function run(scene: CliFixture, argv: readonly string[]) {
  let isEnded = false;
  const ended = scene.run(...argv).finally(() => (isEnded = true));
  const hang: Hang = { since: undefined, longest: 0 };
  while (!isEnded) {
    await quiet();
    measure(hang);
    const [wait] = clock.waits;
    if (!isEnded && wait !== undefined) await clock.advance(Math.max(wait, 1));
    measure(hang);
  }
  return { ...(await ended), longest: hang.longest };
}

function measure(hang: Hang): void {
  const isHanging = [...gates.values()].some(({ hanging }) => hanging > 0);
  if (!isHanging) hang.since = undefined;
  else hang.since ??= clock.monotonicMs();
  if (hang.since !== undefined) {
    hang.longest = Math.max(hang.longest, clock.monotonicMs() - hang.since);
  }
}

/** Waits until no source has a request, for some turns of the event loop. */
async function quiet(): Promise<void> {
  const all = [...gates.values()];
  const counted = () => all.reduce((sum, { count }) => sum + count, 0);
  for (let before = -1; before !== counted() || all.some(({ busy }) => busy > 0); ) {
    before = counted();
    for (let turn = 0; turn < 5; turn += 1) await settled();
  }
}

it.each(rows)('no command ends well without $title', async ({ outage, kind, shown, unneeded }) => {
  const scene = await startGates();
  await outage(scene, kind);
  const exempt = unneeded?.(kind) ?? [];
  const report: string[] = [];
  for (const [name, argv] of Object.entries(commands)) {
    const { status, out, err, longest } = await run(scene, argv);
    const isNamed = `${out}\n${err}`.includes(shown);
    const isGood = exempt.includes(name as Name) ? status === 0 : status !== 0 && isNamed;
    if (!isGood || longest > 10_000) {
      report.push(`${name}: exit status ${status}, ${longest} ms\n${out}\n${err}`);
    }
  }
  expect(report.join('\n\n')).toBe('');
});
