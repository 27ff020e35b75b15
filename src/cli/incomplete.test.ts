import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { type Gate, type Outage, openGate, outages } from '../../test/fixtures/cli/gate.ts';
import { unchangedPlan } from '../../test/fixtures/cli/plans.ts';
import { answerPlan } from '../../test/fixtures/cli/played-operator.ts';
import { type CliFixture, startScene } from '../../test/fixtures/cli/scene.ts';
import { cluster, config, port } from '../explain/testing/healthy.ts';
import { tunnels } from '../session/access/kubectl.ts';
import { openstackConfigs } from '../session/facts/kinds.ts';
import { systemClock } from '../time/clock.ts';
import { createFakeClock, settled } from '../time/fake-clock.ts';

let clock = createFakeClock();
const gates = new Map<string, Gate>();

function gateOf(name: 'management' | 'operator' | 'business'): Gate {
  const gate = gates.get(name);
  if (!gate) throw new Error(`no gate ${name}`);
  return gate;
}

/** True inside a command; the simulated servers use the machine's clock. */
const inCommand = new AsyncLocalStorage<boolean>();

/** Replaces kubectl by connections to the gates, and the commands' clock by a fake clock. */
function replaceTools(): void {
  const ended = new Promise<never>(() => undefined);
  const end = { ended, [Symbol.asyncDispose]: () => Promise.resolve() };
  vi.spyOn(tunnels, 'startProxy').mockImplementation(({ context }) => {
    const { port: own } = gateOf(context === 'biz-context' ? 'business' : 'management');
    return Promise.resolve({ server: `http://127.0.0.1:${own}`, ...end });
  });
  vi.spyOn(tunnels, 'startPortForward').mockImplementation(() =>
    Promise.resolve({ localPort: gateOf('operator').port, ...end }),
  );
  const machine = { ...systemClock };
  const chosen = () => (inCommand.getStore() === true ? clock : machine);
  vi.spyOn(systemClock, 'sleep').mockImplementation((...argv) => chosen().sleep(...argv));
  vi.spyOn(systemClock, 'now').mockImplementation(() => chosen().now());
  vi.spyOn(systemClock, 'monotonicMs').mockImplementation(() => chosen().monotonicMs());
  onTestFinished(() => void vi.restoreAllMocks());
}

/** Starts the scene with a gate before each server. */
async function startGates(): Promise<CliFixture> {
  clock = createFakeClock(new Date());
  const scene = await startScene();
  const authorization = `Bearer ${await scene.api.access.token()}`;
  gates.set('management', await openGate(scene.api.url, { authorization }));
  gates.set('business', await openGate(scene.api.url, { authorization }));
  gates.set('operator', await openGate(`http://127.0.0.1:${scene.operatorPort}`));
  await answerPlan(scene, unchangedPlan);
  scene.answers.set('GET /v1/inventory/history', []);
  replaceTools();
  return scene;
}

const commands = {
  status: ['status', '--business-context', 'biz-1=biz-context'],
  doctor: ['doctor', '--business-context', 'biz-1=biz-context'],
  why: ['why', 'worker-18/multinic1', '--business-context', 'biz-1=biz-context'],
  plan: ['plan', 'storage'],
  nodes: ['nodes'],
  nics: ['nics'],
  history: ['history'],
} as const;
type Name = keyof typeof commands;

interface Source {
  readonly title: string;
  readonly outage: (scene: CliFixture, outage: Outage) => void | Promise<void>;
  /** Name in the output. */
  readonly shown: string;
  /** Commands without need for the source. */
  readonly unneeded?: (outage: Outage) => readonly Name[];
}

const lists = ['plan', 'nodes', 'nics', 'history'] as const;

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

/** Reports an OpenstackConfig's failure as the operator does. */
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
    title: 'OpenstackConfigs',
    outage: (_, outage) =>
      void (gateOf('management').outageOf = (path) =>
        path.includes('openstackconfigs') ? outage : undefined),
    shown: 'management cluster (',
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
    title: 'connection of Viola',
    outage: async (scene, outage) => {
      const message = causes[outage];
      scene.answers.set('GET /v1/clusters', {
        items: [{ ...cluster, reachable: false, message }],
      });
      await failConfig(scene, 'ViolaPostError', `ClusterUnreachable: ${message}`);
    },
    shown: 'Viola does not reach',
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
  {
    title: "controller's Deployment",
    outage: (_, outage) =>
      void (gateOf('business').outageOf = (path) => (isParts(path) ? outage : undefined)),
    shown: 'business cluster (context biz-context)',
    unneeded: () => lists,
  },
];

const rows = sources.flatMap((source) =>
  outages.map((outage) => ({ ...source, kind: outage, title: `${source.title}: ${outage}` })),
);

/** Requests without an answer, in milliseconds. */
interface Hang {
  /** Start of the present hang; undefined: no request hangs. */
  since: number | undefined;
  longest: number;
}

const loaded = new Set<string>();

/** Loads a command's modules, which takes no time of the fake clock. */
async function load(scene: CliFixture, [command = '']: readonly string[]): Promise<void> {
  if (!loaded.has(command)) await scene.run(command, '--help');
  loaded.add(command);
}

/** Runs a command; time moves only while no source has a request to answer. */
async function run(scene: CliFixture, argv: readonly string[]) {
  await load(scene, argv);
  const state = { isEnded: false };
  const running = inCommand.run(true, () => scene.run(...argv));
  const ended = running.finally(() => (state.isEnded = true));
  const hang: Hang = { since: undefined, longest: 0 };
  while (!state.isEnded) {
    await quiet();
    measure(hang);
    const [wait] = clock.waits;
    if (!state.isEnded && wait !== undefined) await clock.advance(Math.max(wait, 1));
    measure(hang);
  }
  return { ...(await ended), longest: hang.longest };
}

function measure(hang: Hang): void {
  const now = clock.monotonicMs();
  if (hang.since !== undefined) hang.longest = Math.max(hang.longest, now - hang.since);
  const isHanging = [...gates.values()].some(({ hanging }) => hanging > 0);
  hang.since = isHanging ? (hang.since ?? now) : undefined;
}

/**
 * Turns of the event loop without an event after which nothing is in progress. Turns, and no time
 * alone: on a busy machine a timer fires before the socket that became ready first.
 */
const quietTurns = 10;

/** True while a file or connection is being opened. */
function isOpening(): boolean {
  return process.getActiveResourcesInfo().some((name) => /Req/.test(name));
}

/** Waits until no source has a request in progress, and no file or connection is being opened. */
async function quiet(): Promise<void> {
  const all = [...gates.values()];
  const counted = () => all.reduce((sum, { count }) => sum + count, 0);
  let before = counted();
  for (let turns = 0; turns < quietTurns; ) {
    await settled();
    await setTimeout(1);
    const isBusy = before !== counted() || all.some(({ busy }) => busy > 0) || isOpening();
    turns = isBusy ? 0 : turns + 1;
    before = counted();
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

it.each<[string, 0 | 1 | 6]>([
  ['nodes', 6],
  ['nodes --state Failed', 6],
  ['nodes --reason NICInUse -o json', 6],
  ['nodes --cluster biz-2', 6],
  ['nodes --cluster biz-1 --state InProgress', 0],
  ['nodes --config multinic-system/storage', 0],
  ['nodes -n multinic-system', 0],
  ['nodes worker-18', 6],
  ['nodes biz-1/worker-18', 0],
  ['nodes worker-18 worker-31', 6],
  ['nodes worker-31', 1],
  ['nodes --inventory OPERATOR', 6],
  ['nics --state Failed', 6],
  ['nics --node biz-1/worker-18 --state Failed', 0],
  ['history', 6],
  ['history biz-1/worker-18', 0],
  ['plan storage', 0],
  ['why worker-31', 1],
  ['why worker-31/multinic0', 1],
  ['diff worker-31', 1],
])('%s ends with %i while Viola of biz-2 is silent, which has no rows', async (text, expected) => {
  const scene = await startGates();
  const { reachable: _, ...silent } = { ...cluster, providerId: 'biz-2', message: '' };
  scene.answers.set('GET /v1/clusters', { items: [cluster, silent] });
  const argv = text.replace('OPERATOR', `http://127.0.0.1:${gateOf('operator').port}`).split(' ');
  const { status, out, err } = await run(scene, argv);
  expect(`${out}\n${err}`.includes(argv.includes('json') ? 'biz-2' : 'Viola (biz-2)')).toBe(
    expected !== 0,
  );
  expect(status).toBe(expected);
});

it('plan names a silent cloud also with --inventory', async () => {
  const scene = await startGates();
  await failConfig(scene, 'KeystoneError', 'keystone: refused');
  const inventory = `http://127.0.0.1:${gateOf('operator').port}`;
  const { status, out } = await run(scene, ['plan', 'storage', '--inventory', inventory]);
  expect(out).toContain('incomplete: Keystone');
  expect(status).toBe(6);
});

it.each([
  ['nodes', '--allow-incomplete'],
  ['status', '--fail-on', 'never'],
])('%s %s ends with 0 without Viola, and names Viola', async (...argv) => {
  const scene = await startGates();
  const { reachable: _, ...silent } = cluster;
  scene.answers.set('GET /v1/clusters', { items: [silent] });
  const { status, out, err } = await run(scene, argv);
  expect(`${out}\n${err}`).toContain('incomplete: Viola (biz-1)');
  expect(status).toBe(0);
});
