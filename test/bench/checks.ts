// What drift checks cost at rest: API requests of the controller per check, by the audit log of the API server, and the share
// of the operator's reads that Viola answers with 304. Agents are scripted and the clock is fake.

import { identities } from '../../rig/chain/identities.ts';
import { nodeConfigs } from '../../src/controller/objects/stores.ts';
import { toExistingNodeConfig } from '../../src/viola/node-configs/existing-node-config.ts';
import { pageTag } from '../../src/viola/read/page-tag.ts';
import { ControllerFixture } from '../fixtures/controller.ts';
import { entry } from '../fixtures/controller-samples.ts';
import { Figures } from './figures.ts';

const nodes = Number(process.env['BENCH_NODES'] ?? 1_000);
const minuteSteps = 2;
const stepMs = 60_000 / minuteSteps;
/** As long as one write pause of `checkedAt`, so that each node writes once. */
const minutes = 360;
const pageSize = 250;
const goals = { requests: 15, changedReads: 10 };

/** Returns the id of a server and of the machine of its node. */
function machineOf(n: number): string {
  return `00000000-0000-4000-8000-${`${n}`.padStart(12, '0')}`;
}

const figures = new Figures();
await using fixture = await ControllerFixture.start();
const names = Array.from({ length: nodes }, (_, n) => `worker-${n}`);
console.log(`making ${nodes} nodes`);
for (const [n, name] of names.entries()) {
  await fixture.addNode(name, machineOf(n));
  await fixture.setReady(name, 'True');
}
fixture.run();
for (const [n, name] of names.entries()) {
  const instanceId = machineOf(n);
  await fixture.apply(name, { instanceId, interfaces: [entry(0)] });
}
const isDone = () =>
  fixture.agents.requests.filter(({ action }) => action === 'apply').length >= nodes;
while (!isDone()) await fixture.pass(20, 500);
// At rest means after the first check of each node, which adds the Drifted condition.
const checked = () =>
  new Set(fixture.agents.requests.flatMap(({ action, uid }) => (action === 'check' ? uid : [])))
    .size;
while (checked() < nodes) await fixture.pass(minuteSteps, stepMs);

/** Returns the tag of each page as Viola gives it to the operator. */
async function tags(): Promise<readonly string[]> {
  const found: string[] = [];
  let next: string | undefined;
  do {
    const page = await fixture.admin.list(nodeConfigs, {
      namespace: 'multinic-system',
      limit: pageSize,
      continue: next,
    });
    const items = page.items.map((object) => {
      const read = toExistingNodeConfig(object as never);
      if (read.kind !== 'readable') throw new Error(read.node.message);
      return read.node;
    });
    found.push(pageTag('biz-1', { items, unreadable: [] }));
    next = page.continue;
  } while (next);
  return found;
}

const requestsOf = () =>
  fixture.api.audit.filter(({ user }) => user === identities.controller).length;
const checks = () => fixture.agents.requests.filter(({ action }) => action === 'check').length;

const before = { requests: requestsOf(), checks: checks() };
let last = await tags();
let [reads, changed] = [0, 0];
for (let minute = 0; minute < minutes; minute++) {
  await fixture.pass(minuteSteps, stepMs);
  const now = await tags();
  reads += now.length;
  changed += now.filter((tag, at) => tag !== last[at]).length;
  last = now;
}
const done = checks() - before.checks;
if (done < nodes) throw new Error(`${done} checks of ${nodes} nodes in ${minutes} minutes`);
figures.note(`drift checks of ${nodes} nodes in ${minutes} minutes`, `${done}`);
figures.goal(
  'API requests of a check',
  (requestsOf() - before.requests) / done,
  goals.requests,
  'requests',
);
figures.goal('reads at rest that are no 304', (100 * changed) / reads, goals.changedReads, '%');
figures.end();
