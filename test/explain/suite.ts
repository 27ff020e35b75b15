import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { accessOptions, doctor, expectHealthy, multinic } from '../fixtures/chain/multinic.ts';
import { generous } from '../fixtures/chain/waits.ts';
import { openWorld, type World, type WorldOptions } from '../fixtures/chain/world.ts';
import type { PlantedFault } from './faults.ts';
import { carryOut } from './next-steps.ts';
import type { Planted } from './planted.ts';
import { isRecording, recordFault } from './record.ts';

export interface FaultSuite {
  readonly workers: readonly string[];
  readonly options?: WorldOptions;
  /** Brings the world to a state without a fault. */
  readonly prepare: (world: World) => Promise<void>;
  readonly phases: readonly (readonly PlantedFault[])[];
}

/** Plants each phase's faults, explains them, and carries out their next steps. */
export function testFaults({ workers, options, prepare, phases }: FaultSuite): void {
  let world: World;
  beforeAll(async () => {
    world = await openWorld(workers, options);
    await prepare(world);
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  it('doctor reports no finding without a fault', () => expectHealthy(world));

  describe.each(phases.map((phase) => [titleOf(phase), phase] as const))('%s', (_title, phase) => {
    const planted = new Map<PlantedFault, Planted>();
    const plantedOf = (fault: PlantedFault) => planted.get(fault) ?? expect.fail('not planted');

    beforeAll(async () => {
      const standing = await Promise.all(phase.map(({ plant }) => plant(world)));
      for (const [at, fault] of phase.entries()) planted.set(fault, standing[at] as Planted);
    });

    it('doctor names exactly the standing faults', () =>
      expectFindings(world, [...planted.values()]));

    it.concurrent.each(phase)(
      'why names $title, and its next step removes the fault',
      async (fault) => {
        const at = plantedOf(fault);
        const step = await expectStep(world, at, fault);
        if (isRecording) await recordFault(world, fault, { ...step, ...at });
        await repair(world, at, step);
      },
    );

    it('doctor reports no finding after the next steps', () => expectHealthy(world));
  });
}

function titleOf(phase: readonly PlantedFault[]): string {
  return `faults ${phase.map(({ number }) => number).join(', ')}`;
}

async function expectFindings(world: World, planted: readonly Planted[]): Promise<void> {
  const expected = planted.flatMap(({ findings }) => findings).toSorted();
  await vi.waitFor(async () => {
    const { findings, status } = await doctor(world);
    const found = findings.map(({ reason, subject }) => `${reason} ${subject}`);
    expect(found.toSorted()).toEqual(expected);
    for (const { next, commands } of findings) expect(next + commands.join('')).not.toBe('');
    expect(status).toBe(expected.length > 0 ? 5 : 0);
  }, generous);
  const { out } = await multinic(world, 'doctor', '--fail-on', 'never', ...accessOptions(world));
  for (const { information = '' } of planted) expect(out).toContain(information);
}

const step = z.object({
  step: z.string(),
  result: z.string(),
  reason: z.string(),
  evidence: z.string(),
  next: z.string().default(''),
  commands: z.array(z.string()),
  preview: z.array(z.string()),
});
type Step = z.infer<typeof step>;
const whyReport = z.object({ findings: z.array(step) });

/** Returns the failed steps, or the steps with a warning, and the exit status. */
async function why(world: World, target: string) {
  const argv = ['why', target, '-o', 'json', '--fail-on', 'warning', ...accessOptions(world)];
  const { status, out, err } = await multinic(world, ...argv);
  if (status !== 0 && status !== 5) throw new Error(`multinic why exits ${status}: ${err}`);
  return { status, steps: whyReport.parse(JSON.parse(out)).findings };
}

async function expectStep(world: World, planted: Planted, fault: PlantedFault): Promise<Step> {
  const { target, evidence, printed } = planted;
  return vi.waitFor(async () => {
    const { status, steps } = await why(world, target);
    const [first] = steps;
    const { reason, result } = fault;
    if (first?.reason !== reason) expect.fail(`not ${reason}: ${JSON.stringify(steps)}`);
    expect(first).toMatchObject({ step: fault.step, result });
    for (const words of evidence) expect(first.evidence).toContain(words);
    const commands = [...first.commands, ...first.preview];
    expect(commands.map((command, at) => command.slice(0, printed[at]?.length))).toEqual(printed);
    expect(first.next + commands.join('')).not.toBe('');
    expect(status).toBe(5);
    return first;
  }, generous);
}

/** Carries out the next step from `why`: previews first, then each command between the fixture's acts. */
async function repair(world: World, planted: Planted, { commands, preview }: Step): Promise<void> {
  const { target, worker, acts = {}, afterwards } = planted;
  for (const command of preview) await carryOut({ world, worker }, command);
  for (const [at, command] of commands.entries()) {
    await acts[at]?.();
    await carryOut({ world, worker }, command);
  }
  await acts[commands.length]?.();
  const expected = afterwards === undefined ? [] : [afterwards];
  await vi.waitFor(async () => {
    const { steps } = await why(world, target);
    expect(steps.map(({ reason }) => reason)).toEqual(expected);
  }, generous);
}
