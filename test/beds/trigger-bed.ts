import { createHash } from 'node:crypto';
import { Registry } from 'prom-client';
import type { Effect } from '../../src/api/effects.ts';
import type { HttpServer } from '../../src/http/app.ts';
import { createHttpServer } from '../../src/http/server.ts';
import type { Grant, Verb } from '../../src/http/who-may.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { ReconcileRequests } from '../../src/operator/triggers/server/reconcile-requests.ts';
import { longestBody, serveTriggers } from '../../src/operator/triggers/server/routes.ts';
import { UsedSignatures } from '../../src/operator/triggers/server/used-signatures.ts';
import { createPerform } from '../../src/process/effects.ts';
import { createHealth } from '../../src/process/health.ts';
import { createLogger } from '../../src/process/log.ts';
import { type Clock, systemClock } from '../../src/time/clock.ts';
import { about } from './about.ts';

export interface TriggerBedOptions {
  /** How the API server of the management cluster takes an annotation. */
  readonly patch: KubeClient['patch'];
  readonly clock?: Clock;
  /** The keys of signatures; nobody may sign without them. */
  readonly keys?: (() => Promise<readonly string[]>) | undefined;
  /** Whether tokens are taken at all (default: they are). */
  readonly tokens?: boolean;
  /** Of which OpenstackConfigs are looked at (default: of all). */
  readonly allowedNamespaces?: readonly string[];
  /** Ends writes that are in hand. */
  readonly lifetime?: AbortSignal;
}

/** The tokens of the bed: read all, write biz-1, delete all, everything, everything of biz-2. */
const grants: readonly Grant[] = [
  grant('ro', '*', ['read']),
  grant('w', 'biz-1', ['write']),
  grant('d', '*', ['delete']),
  grant('rw', '*', ['read', 'write', 'delete']),
  grant('other', 'biz-2', ['read', 'write', 'delete']),
];

/** The trigger endpoint of one replica of the operator. */
export async function openTriggerBed(options: TriggerBedOptions) {
  const {
    clock = systemClock,
    keys,
    tokens = true,
    allowedNamespaces = [],
    lifetime = new AbortController().signal,
  } = options;
  const app: HttpServer = await createHttpServer({
    title: 'MultiNIC triggers',
    clock,
    log: createLogger({ part: 'test', level: 'silent' }),
    health: createHealth(),
    about,
    registry: new Registry(),
    bodyLimit: longestBody,
  });
  /** Writes as a fault suite hears of them. */
  const effects: string[] = [];
  const perform = createPerform<Effect>((name, phase) => void effects.push(`${phase} ${name}`));
  const used = new UsedSignatures(clock);
  const client = { patch: options.patch };
  const requests = new ReconcileRequests({ client, perform, allowedNamespaces, clock, lifetime });
  const who = { tokens: tokens ? { current: async () => grants } : undefined, keys };
  serveTriggers(app, { ...who, used, requests, clock });
  return { app, used, requests, effects };
}

function grant(name: string, provider: string, verbs: readonly Verb[]): Grant {
  const sha256 = createHash('sha256').update(name).digest('hex');
  return { name, sha256, providers: [provider], verbs: [...verbs] };
}
