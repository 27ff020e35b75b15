import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../src/time/clock.ts';
import { type LegacyViola, legacyViolaPart } from '../deployed/part.ts';
import { controllerPart, operatorPart, violaPart } from '../parts/parts.ts';
import type { Supervisor } from '../parts/supervisor.ts';
import type { MountedAccess } from './managed-access.ts';

export interface PartsOptions {
  readonly supervisor: Supervisor;
  /** Where tokens and the inventory are kept. */
  readonly directory: string;
  readonly clock: Clock;
  /** Paths; each part's own identity. */
  readonly kubeconfigs: Readonly<Record<'operator' | 'viola' | 'controller', string>>;
  readonly ports: Readonly<Record<'viola' | 'controller' | 'operator' | 'inventory', number>>;
  readonly contrabassUrl: string;
  readonly encryptKey: string;
  /** Business clusters that the operator's token is good for; * is all. */
  readonly providers: readonly string[];
  /** What the operator makes for its access to Viola, mounted; without it both are given files. */
  readonly access?: MountedAccess | undefined;
  /** What stands for the Viola of the legacy system, instead of ours. */
  readonly legacyViola?: LegacyViola | undefined;
  /** Poll interval of the operator, as a Go duration; default 1s. */
  readonly poll?: string;
  /** Image of the agents on real nodes; default: a name for the stand-in kubelet. */
  readonly agentImage?: string;
  /** Environment of all parts. */
  readonly env?: Readonly<Record<string, string>>;
  /** Folders of the bundles of parts that are of another version. */
  readonly bundles?: Bundles;
  /** Parts to start; default: all. */
  readonly only?: readonly Part[];
}

/** Parts in the order in which they are stopped. */
export const parts = ['operator', 'controller', 'viola'] as const;
export type Part = (typeof parts)[number];

export type Bundles = Readonly<Partial<Record<Part, string>>>;

/** Starts operator, Viola and controller beside each other; resolves when all of them are ready. */
export async function startParts(options: PartsOptions): Promise<void> {
  const { access, directory, only = parts } = options;
  const tokens = access ? undefined : await writeTokens(directory, options.providers);
  const start: Record<Part, () => Promise<void>> = {
    viola: () => startViola(tokens?.granted, options),
    controller: () => startController(options),
    operator: () => startOperator(tokens?.operator, options),
  };
  await Promise.all(only.map((part) => start[part]()));
}

function startController({ supervisor, clock, kubeconfigs, ports, ...rest }: PartsOptions) {
  const { env = {}, bundles = {}, agentImage = 'multinic-agent:stand-in' } = rest;
  return supervisor.start(
    controllerPart({
      kubeconfig: kubeconfigs.controller,
      port: ports.controller,
      agentImage,
      clock,
      env,
      bundle: bundles.controller,
    }),
  );
}

function startOperator(tokenFile: string | undefined, options: PartsOptions) {
  const { supervisor, directory, clock, kubeconfigs, ports, env = {}, bundles = {} } = options;
  return supervisor.start(
    operatorPart({
      kubeconfig: kubeconfigs.operator,
      healthPort: ports.operator,
      inventoryPort: ports.inventory,
      violaUrl: violaUrlOf(options),
      ...(tokenFile === undefined ? {} : { violaTokenFile: tokenFile }),
      contrabassUrl: options.contrabassUrl,
      encryptKey: options.encryptKey,
      database: join(directory, 'inventory.db'),
      poll: options.poll ?? '1s',
      clock,
      env,
      bundle: bundles.operator,
    }),
  );
}

/** Where Viola serves: by TLS when the operator makes its certificate. */
export function violaUrlOf({ ports, access }: Pick<PartsOptions, 'ports' | 'access'>): string {
  return `${access ? 'https' : 'http'}://127.0.0.1:${ports.viola}`;
}

async function startViola(granted: string | undefined, options: PartsOptions): Promise<void> {
  const { supervisor, clock, kubeconfigs, ports, env = {}, access, legacyViola } = options;
  if (legacyViola) {
    await supervisor.start(legacyViolaPart({ ...legacyViola, port: ports.viola, clock }));
    return;
  }
  const bundle = options.bundles?.viola;
  const common = { kubeconfig: kubeconfigs.viola, port: ports.viola, clock, env, bundle };
  if (!access) {
    await supervisor.start(violaPart({ ...common, tokenFile: granted ?? '' }));
    return;
  }
  // Its Pod waits for the volumes.
  await access.mounted;
  await supervisor.start(violaPart({ ...common, tokenFile: access.tokens, tls: access }));
}

/** Writes the tokens of operator and Viola once: parts that are not started again still have them. */
async function writeTokens(directory: string, providers: readonly string[]) {
  const paths = {
    granted: join(directory, 'tokens.yaml'),
    operator: join(directory, 'operator-token'),
  };
  if (existsSync(paths.operator)) return paths;
  const token = randomBytes(24).toString('hex');
  const sha256 = createHash('sha256').update(token).digest('hex');
  const grants = [{ name: 'operator', sha256, providers, verbs: ['read', 'write', 'delete'] }];
  await writeFile(paths.granted, JSON.stringify(grants), { mode: 0o600 });
  await writeFile(paths.operator, token, { mode: 0o600 });
  return paths;
}
