import { afterEach, beforeEach, expect, it } from 'vitest';
import { ControllerBed } from '../../test/fixtures/controller-bed.ts';
import { everyNthFails, failed, RolloutBed } from '../../test/fixtures/rollout-bed.ts';

const count = Number(process.env['N'] ?? 1000);

it('measure', async () => {
  await using bed = await ControllerBed.start();
  const cluster = new RolloutBed(bed, count);
  const t = performance.now();
  const lap = (what: string) =>
    console.log(what, Math.round(performance.now() - t), cluster.touched().size);
  await cluster.create();
  lap('created');
  await cluster.edit(2, 1400);
  bed.agents.answer = failed;
  bed.run();
  await cluster.untilStopped(count - 1);
  lap('canary failed');
  expect(cluster.touched().size).toBe(1);
  console.log(cluster.stoppedMessages());
  bed.agents.requests.length = 0;
  bed.agents.answer = everyNthFails(5);
  await cluster.edit(3, 1300);
  lap('edited');
  await bed.eventually(
    () => cluster.having('RolloutStopped') > 10,
    () => 'no stop',
  );
  lap('stopped some');
  await bed.pass(30);
  console.log(cluster.having('RolloutStopped'), cluster.stoppedMessages());
  lap('stopped');
}, 300_000);
