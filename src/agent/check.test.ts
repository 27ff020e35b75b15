import { expect, it } from 'vitest';
import { entry, host, link, request } from '../../test/fixtures/agent-samples.ts';
import { createLogger } from '../process/log.ts';
import type { Context } from './apply/context.ts';
import { netplan } from './backends/netplan.ts';
import { compare } from './check.ts';
import { emptyState } from './state.ts';

it("[P4] a check logs each NIC's whole plan, as the result has room for 120 bytes per NIC", () => {
  const lines: string[] = [];
  const log = createLogger({
    part: 'agent',
    level: 'info',
    destination: { write: (line) => lines.push(line) },
  });
  const run = { fence: { uid: 'uid-1', generation: 1 }, bootId: 'boot-1' };
  const wanted = { request: request([entry(1), entry(2)]), state: emptyState, journals: [] };
  const on = host([link(1), link(2)]);
  const nics = compare(on, wanted, {
    backend: netplan,
    run,
    log,
    hostRoot: '/nowhere',
  } as unknown as Context);
  expect(nics.map(({ reason }) => reason)).toEqual(['Drifted', 'Drifted']);
  const plans = lines.map((line) => JSON.parse(line) as { msg: string; steps: string[] });
  expect(plans.map(({ msg }) => msg)).toEqual(['plan', 'plan']);
  for (const { steps } of plans) expect(steps.join('; ').length).toBeGreaterThan(120);
});
