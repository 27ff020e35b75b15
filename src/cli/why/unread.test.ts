import { expect, it } from 'vitest';
import * as z from 'zod';
import { type Answer, startScene } from '../../../test/fixtures/cli/scene.ts';
import { portId } from '../../explain/testing/healthy.ts';

const unread = (code: string, detail: string): Answer => ({ status: 503, code, detail });
const noPort: Answer = { status: 404, code: 'NoSuchPort', detail: 'no such port' };
const neutronDown = unread('PortUnread', 'Neutron could not be read: a/b: timeout');
const violaDown = unread('NodeUnread', 'node "worker-18" could not be read: timeout');

const report = z.object({
  items: z.array(
    z.object({
      steps: z.array(z.object({ step: z.string(), result: z.string(), evidence: z.string() })),
    }),
  ),
});

interface Row {
  readonly title: string;
  readonly target: string;
  readonly answers: Readonly<Record<string, Answer>>;
  /** Skipped steps with their evidence. */
  readonly skipped: readonly string[];
  readonly missing: string;
  readonly next: string;
}

const ofPort = ['Neutron', 'Selection', 'Filter', 'Assignment', 'Delivery', 'Acceptance', 'Agent'];
const ofNode = ['Delivery', 'Acceptance', 'Agent', 'Kernel', 'BootFiles', 'Environment'];
const all = [...ofPort, 'Kernel', 'BootFiles', 'Environment'];

const rows: readonly Row[] = [
  {
    title: 'no account could read Neutron for a port id',
    target: portId,
    answers: { 'GET /v1/ports': neutronDown },
    skipped: all,
    missing: 'Neutron could not be read',
    next: 'kubectl multinic doctor',
  },
  {
    title: 'no port has the id, and the search by server could not read Neutron',
    target: portId,
    answers: {
      [`GET /v1/ports?portId=${portId}`]: noPort,
      [`GET /v1/ports?serverId=${portId}`]: neutronDown,
    },
    skipped: all,
    missing: 'Neutron could not be read',
    next: 'kubectl multinic doctor',
  },
  {
    title: 'Viola could not read the node',
    target: portId,
    answers: { 'GET /v1/nodes/biz-1/worker-18': violaDown },
    skipped: ofNode,
    missing: 'node "worker-18" could not be read',
    next: 'kubectl multinic doctor',
  },
  {
    title: 'Neutron and Viola could not be read for a NIC',
    target: 'worker-18/multinic1',
    answers: { 'GET /v1/ports': neutronDown, 'GET /v1/nodes/biz-1/worker-18': violaDown },
    skipped: all,
    missing: 'could not be read',
    next: 'kubectl multinic doctor',
  },
];

it.each(rows)('why skips the steps without facts when $title', async (row) => {
  const scene = await startScene();
  for (const [path, answer] of Object.entries(row.answers)) scene.answers.set(path, answer);
  const { status, out } = await scene.run('why', row.target, '-o', 'json');
  const steps = report.parse(JSON.parse(out)).items.flatMap((item) => item.steps);
  const skipped = steps.filter(({ result }) => result === 'skipped');
  expect(status).toBe(row.skipped === all ? 1 : 6);
  expect(skipped.map(({ step }) => step)).toEqual(row.skipped);
  expect(steps.filter(({ result }) => !['ok', 'skipped'].includes(result))).toEqual([]);
  for (const { evidence } of skipped) expect(evidence).toContain(row.missing);
  expect((await scene.run('why', row.target)).out).toContain(row.next);
});
