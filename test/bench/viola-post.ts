// Cost of POSTs of 1,000 nodes in Viola: time of new and of changed nodes, and CPU time of a POST that changes nothing. The process of
// the bundle, started as its image starts it, writes to an embedded API server. Floor of the CPU time: the same list of objects read and
// parsed by a process that does nothing else.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundle } from '../../build/bundler.ts';
import { bundleFolder } from '../../rig/parts/program.ts';
import { namespaces } from '../../src/api/names.ts';
import {
  nodeConfigsPath,
  type PostedNode,
  postAnswer,
  providerHeader,
} from '../../src/api/node-configs-http.ts';
import { nodeConfigs } from '../../src/viola/node-configs/node-config.ts';
import { openWorld, provider } from '../fixtures/chain/world.ts';
import { cpuOf, Figures, median } from './figures.ts';

const nodeCount = 1_000;
const nicsPerNode = 2;
const rounds = 7;
/** Rounds of new and changed nodes; each takes some ten seconds. */
const writeRounds = 5;
const goals = { cpuSeconds: 0.5, writes: 0, timesNew: 1.1 };

await bundle(bundleFolder);
await using world = await openWorld([], { poll: '10m' });
for (const part of ['operator', 'controller']) await world.parts.stop(part);
const token = (await readFile(join(world.directory, 'operator-token'), 'utf8')).trim();

const nodes: PostedNode[] = Array.from({ length: nodeCount }, (_, n) => ({
  nodeName: `worker-${n}`,
  instanceId: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
  interfaces: Array.from({ length: nicsPerNode }, (__, at) => nicOf(n * nicsPerNode + at, at)),
  source: { namespace: 'bench', name: 'osc', uid: 'uid-osc', generation: 1 },
}));

function nicOf(port: number, id: number) {
  const hex = port.toString(16).padStart(6, '0');
  const address = `10.${16 + id}.${Math.floor(port / 250)}.${1 + (port % 250)}`;
  return {
    id,
    name: `multinic${id}`,
    portId: `10000000-0000-4000-8000-${hex.padStart(12, '0')}`,
    macAddress: `fa:16:3e:${hex.slice(0, 2)}:${hex.slice(2, 4)}:${hex.slice(4)}`,
    address,
    cidr: `10.${16 + id}.0.0/16`,
    addresses: [`${address}/16`],
    gateway: `10.${16 + id}.255.254`,
    mtu: 1450,
    networkId: `20000000-0000-4000-8000-00000000000${id}`,
    subnetId: `30000000-0000-4000-8000-00000000000${id}`,
  };
}

type Measured = Awaited<ReturnType<typeof measured>>;

async function post(posted: readonly PostedNode[]) {
  const answer = await fetch(`${world.violaUrl}${nodeConfigsPath}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
      [providerHeader]: provider,
    },
    body: JSON.stringify(posted),
  });
  const { results } = postAnswer.parse(await answer.json());
  return results;
}

type Results = Awaited<ReturnType<typeof post>>;

/** As the operator posts them: against the objects that it has read. */
function basedOn(results: Results): PostedNode[] {
  const byName = new Map(nodes.map((node) => [node.nodeName, node]));
  return results.map(({ nodeName, uid, generation }) => ({
    ...byName.get(nodeName),
    nodeName,
    base: { uid, generation },
  }));
}

const pid = world.parts.pidOf('viola');
const { audit } = world.business.server;

/** Milliseconds and CPU seconds of Viola for one POST, and its reads of single objects. */
async function measured(posted: readonly PostedNode[], wanted: Results[number]['status']) {
  const [cpu, start, calls] = [await cpuOf(pid), performance.now(), audit.length];
  const results = await post(posted);
  const ms = performance.now() - start;
  const count = results.filter(({ status }) => status === wanted).length;
  if (count !== nodeCount) throw new Error(`${count} of ${nodeCount} nodes are ${wanted}`);
  const gets = audit.slice(calls).filter(({ verb }) => verb === 'get').length;
  return { results, ms, cpuSeconds: (await cpuOf(pid)) - cpu, gets };
}

const ref = (nodeName: string) => ({ namespace: namespaces.system, name: nodeName });
const fresh: Measured[] = [];
const changed: Measured[] = [];
let created: Results = [];
for (let round = 0; round < writeRounds; round++) {
  for (const { nodeName } of created) {
    await world.business.client.delete(nodeConfigs, ref(nodeName));
  }
  const made = await measured(
    nodes.map((node) => ({ ...node, base: null })),
    'created',
  );
  const edited = basedOn(made.results).map(({ interfaces = [], ...node }) => ({
    ...node,
    interfaces: interfaces.map((nic) => ({ ...nic, mtu: 1400 })),
  }));
  const after = await measured(edited, 'updated');
  fresh.push(made);
  changed.push(after);
  // The unchanged rounds post the former content.
  created = after.results;
}
created = (await measured(basedOn(created), 'updated')).results;
const based = basedOn(created);
const costs: number[] = [];
const waits: number[] = [];
const before = audit.length;
for (let round = 0; round < rounds; round++) {
  const { ms, cpuSeconds } = await measured(based, 'unchanged');
  waits.push(ms);
  costs.push(cpuSeconds);
}
const calls = audit.slice(before);
const writes = calls.filter(({ verb }) => !['get', 'list', 'watch'].includes(verb));
const reads = calls.filter(({ resource }) => resource === 'multinicnodeconfigs');

/** The floor: the body, and the objects that it is compared with, through JSON once in each direction that Viola needs. */
function floor(): number {
  const body = JSON.stringify(nodes);
  const objects = JSON.stringify(
    world.business.server.objects(`${nodeConfigs.plural}.multinic.io`, namespaces.system),
  );
  const cpu = process.cpuUsage();
  JSON.parse(body);
  JSON.parse(objects);
  const { user, system } = process.cpuUsage(cpu);
  return (user + system) / 1e6;
}

const figures = new Figures();
const floors = Array.from({ length: rounds }, floor);
figures.note(
  'the body and the objects of 1,000 nodes through JSON.parse',
  `${(1000 * median(floors)).toFixed(0)} ms`,
);
const spent = (all: readonly Measured[]) => {
  const [time, cpu] = [median(all.map(({ ms }) => ms)), median(all.map((one) => one.cpuSeconds))];
  return `${(time / 1000).toFixed(1)} s, ${cpu.toFixed(1)} s`;
};
figures.note('POST of 1,000 new nodes: time, CPU time', spent(fresh));
figures.note('POST of 1,000 changed nodes: time, CPU time', spent(changed));
const ratios = changed.map(({ ms }, at) => ms / (fresh[at]?.ms ?? Number.NaN));
figures.goal('its time, over that of new nodes', median(ratios), goals.timesNew, 'times');
figures.goal(
  'its reads of single objects',
  Math.max(...changed.map(({ gets }) => gets)),
  0,
  'reads',
);
figures.goal('unchanged POST of 1,000 nodes: CPU time', median(costs), goals.cpuSeconds, 's');
figures.note(
  'its time, its first round',
  `${median(waits).toFixed(0)} ms, ${waits[0]?.toFixed(0)} ms`,
);
figures.note('its reads of the business cluster', `${reads.length / rounds}`);
figures.goal('its writes', writes.length, goals.writes, 'writes');
figures.end();
