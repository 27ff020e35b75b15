import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { vi } from 'vitest';
import { subjectsOf, targetOf } from '../../src/cli/why/target.ts';
import { mapFact } from '../../src/explain/fact.ts';
import type { PortFacts } from '../../src/explain/facts.ts';
import { Session } from '../../src/session/access/session.ts';
import { readPortFacts } from '../../src/session/facts/port-facts.ts';
import { noKubectl, userKubeconfig } from '../fixtures/chain/multinic.ts';
import type { World } from '../fixtures/chain/world.ts';
import { type RecordedFault, recordPath } from '../fixtures/recorded-faults.ts';
import type { PlantedFault } from './faults.ts';

/** True: the chain suite writes each fault's facts for the unit tests. */
export const isRecording = process.env['MULTINIC_RECORD_FAULTS'] === '1';

type Observed = Pick<RecordedFault, 'evidence' | 'commands' | 'preview'> & {
  readonly target: string;
};

/** Writes a fault's port facts from `why`, a line per fact. */
export async function recordFault(
  world: World,
  { number, title, step, reason, result }: PlantedFault,
  { target, evidence, commands, preview }: Observed,
): Promise<void> {
  const facts = withoutStatus(await factsOf(world, target));
  const fault = { number, title, step, reason, result, evidence, commands, preview };
  const lines = [...Object.entries(fault), ...Object.entries(facts)].map(
    ([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value, withoutManagers)}`,
  );
  const path = recordPath(number);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `{\n${lines.join(',\n')}\n}\n`);
}

async function factsOf(world: World, target: string) {
  vi.stubEnv('KUBECONFIG', await userKubeconfig(world));
  vi.stubEnv('MULTINIC_KUBECTL', noKubectl(world));
  const options = {
    inventory: world.inventoryUrl,
    businessContext: new Map([['business', 'business']]),
  };
  await using session = new Session(options, AbortSignal.timeout(60_000));
  const [subject] = await subjectsOf(session, targetOf(target));
  if (!subject) throw new Error(`no port ${target}`);
  return await readPortFacts(session, subject);
}

/** Returns the facts without the OpenstackConfigs' status: `why` reads their spec only. */
function withoutStatus({ configs, ...facts }: PortFacts): PortFacts {
  if (configs === undefined) return facts;
  return {
    ...facts,
    configs: mapFact(configs, (all) => all.map(({ metadata, spec }) => ({ metadata, spec }))),
  };
}

function withoutManagers(name: string, value: unknown): unknown {
  return name === 'managedFields' ? undefined : value;
}
