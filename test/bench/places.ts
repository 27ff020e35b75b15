// CPU that the controller takes for each node while most nodes wait for a place, beside a run with a place for each node: the same
// nodes, the same embedded API server and agents that end at once, all in this process.
import { ControllerFixture } from '../fixtures/controller.ts';
import { entry } from '../fixtures/controller-samples.ts';
import { configured } from '../fixtures/scripted-agents.ts';
import { Figures } from './figures.ts';

const nodes = 300;
/** How often an agent is asked before it has ended: some seconds of the clock of the tests. */
const turnsAtWork = 10;

/** Milliseconds of CPU per node from the start of the controller until every node is configured. */
async function cpuPerNode(places: number, count: number): Promise<number> {
  await using bed = await ControllerFixture.start();
  const asked = new Map<string, number>();
  bed.agents.answer = (request) => {
    const { nodeName } = request;
    const times = (asked.get(nodeName) ?? 0) + 1;
    asked.set(nodeName, times);
    return times > turnsAtWork ? configured(request) : undefined;
  };
  for (let n = 1; n <= count; n++) {
    const id = instanceIdOf(n);
    await bed.addNode(`node-${n}`, id, `192.0.2.${n % 250}`);
    await bed.apply(`node-${n}`, { instanceId: id, interfaces: [entry(0)] });
  }
  const before = process.cpuUsage();
  bed.run({ 'max-in-flight': String(places) });
  const ready = () =>
    bed.api
      .objects('multinicnodeconfigs.multinic.io')
      .filter(
        (object) => (object as { status?: { state?: string } }).status?.state === 'Configured',
      ).length;
  while (ready() < count) await bed.pass(1);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / count;
}

function instanceIdOf(n: number): string {
  return `6f1e2d3c-0000-4000-8000-${String(n).padStart(12, '0')}`;
}

const figures = new Figures();
await cpuPerNode(20, 20); // compiles the code
const floor = await cpuPerNode(nodes, nodes);
const waiting = await cpuPerNode(10, nodes);
figures.note(
  `controller, ${nodes} nodes, a place for each: CPU per node`,
  `${floor.toFixed(1)} ms`,
);
figures.note(`controller, ${nodes} nodes, 10 places: CPU per node`, `${waiting.toFixed(1)} ms`);
figures.goal('… over that with a place for each', waiting / floor, 1.3, 'x');
figures.end();
