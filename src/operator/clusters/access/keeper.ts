import type { Effect } from '../../../api/effects.ts';
import type { Reason } from '../../../api/reasons.ts';
import { SecretError } from '../../../certificates/owned-secret.ts';
import { aroundWrites } from '../../../kube/client/around-writes.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { secrets as secretKind } from '../../../kube/core-resources.ts';
import { createEventRecorder } from '../../../kube/events.ts';
import { together } from '../../../kube/reconcile/together.ts';
import { apiVersionOf } from '../../../kube/resource.ts';
import type { Perform } from '../../../process/effects.ts';
import type { Logger } from '../../../process/log.ts';
import { type Backoff, backoffMs } from '../../../time/backoff.ts';
import { type Clock, passed, type Random } from '../../../time/clock.ts';
import type { OperatorMetrics } from '../../model/metrics.ts';
import { createAccessSecrets, managedSecrets } from './access-secrets.ts';
import { createTlsKeeper } from './tls.ts';
import { createTokenKeeper } from './tokens.ts';

export interface KeeperDeps {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly perform: Perform<Effect>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
  /** Managed credentials. */
  readonly keeps: { readonly tokens: boolean; readonly tls: boolean };
}

/** Milliseconds between rounds. */
export const checkIntervalMs = 60_000;
/** Backoff after a failed round: a short API outage delays an installation by less than a minute. */
const retry: Backoff = { baseMs: 1_000, maxMs: checkIntervalMs };

/** Maintains the Secrets for access to Viola while this process leads. */
export function createAccessKeeper({
  client,
  namespace,
  perform,
  clock,
  random,
  log,
  metrics,
  keeps,
}: KeeperDeps) {
  const secrets = createAccessSecrets({ client, namespace, perform });
  const tls = createTlsKeeper({ secrets, namespace, clock, log, metrics });
  const tokens = createTokenKeeper({ secrets, clock, log, metrics });
  const recorder = createEventRecorder({
    client: aroundWrites(client, (write) => perform('operator.event.write', write)),
    component: 'multinic-operator',
    clock,
    onError: (error) => log.warn({ err: error }, 'event not written'),
  });
  /** Present problem by Secret name. */
  const problems = new Map<string, string>();

  const halves = [
    ...(keeps.tls
      ? [{ keep: tls, first: managedSecrets.authority, second: managedSecrets.certificate }]
      : []),
    ...(keeps.tokens
      ? [{ keep: tokens, first: managedSecrets.token, second: managedSecrets.grants }]
      : []),
  ];

  /** Maintains both halves independently: a failing half blocks neither the other half nor the NICs. */
  async function round(leading: AbortSignal): Promise<void> {
    for (const { keep, first, second } of halves) {
      try {
        await keep.round(leading);
        for (const { name } of [first, second]) {
          if (problems.delete(name))
            log.info({ name }, 'Secret for access to Viola is up to date again');
        }
      } catch (error) {
        leading.throwIfAborted();
        report(error instanceof SecretError ? error : new SecretError(first.name, error));
      }
    }
  }

  function report(problem: SecretError): void {
    const { about: secret, message, isRace } = problem;
    if (isRace) {
      log.info(
        { name: secret, err: problem },
        'Secret for access to Viola was changed by another writer',
      );
      return;
    }
    metrics.count('multinic_viola_access_failures_total', { secret });
    const text = 'Secret for access to Viola cannot be updated';
    if (problems.get(secret) !== message) log.error({ name: secret, err: problem }, text);
    problems.set(secret, message);
    const reason = 'ViolaAccessFailed' satisfies Reason;
    const { kind } = secretKind;
    const involved = {
      apiVersion: apiVersionOf(secretKind),
      kind,
      metadata: { namespace, name: secret },
    };
    recorder.record(involved, { type: 'Warning', reason, message });
  }

  async function runRounds(leading: AbortSignal): Promise<void> {
    let failures = 0;
    const pauseMs = () => {
      failures = problems.size === 0 ? 0 : failures + 1;
      return failures === 0 ? checkIntervalMs : backoffMs(failures - 1, retry, random);
    };
    while (await passed(clock, pauseMs(), leading)) await round(leading);
  }

  return {
    /** Runs a first round, then the leader's work beside further rounds. */
    during: async (
      leading: AbortSignal,
      work: (leading: AbortSignal) => Promise<void>,
    ): Promise<void> =>
      recorder.during(leading, async () => {
        tokens.lead();
        tls.lead();
        await round(leading);
        await together(leading, clock, { operator: work, access: runRounds });
      }),
    /** Problems as logged; undefined: no problem, or no round yet. */
    get problem(): string | undefined {
      return [...problems.values()].join('; ') || undefined;
    },
    get token(): string | undefined {
      return tokens.inUse;
    },
    get authorities(): string | undefined {
      return tls.trusted;
    },
  };
}
