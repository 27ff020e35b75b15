import type { Effect } from '../../api/effects.ts';
import type { Reason } from '../../api/reasons.ts';
import { SecretError } from '../../certificates/owned-secret.ts';
import { aroundWrites } from '../../kube/client/around-writes.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { secrets as secretKind } from '../../kube/core-resources.ts';
import { createEventRecorder } from '../../kube/events.ts';
import { together } from '../../kube/reconcile/together.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import type { Perform } from '../../process/effects.ts';
import type { Logger } from '../../process/log.ts';
import { type Backoff, backoffMs } from '../../time/backoff.ts';
import { type Clock, passed, type Random } from '../../time/clock.ts';
import type { OperatorMetrics } from '../metrics/metrics.ts';
import { createAccessSecrets, kept } from './kept-secret.ts';
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
  /** Which of both is kept. */
  readonly keeps: { readonly tokens: boolean; readonly tls: boolean };
}

/** How often the Secrets are looked at. */
export const lookMs = 60_000;
/** How soon after a look that failed: a server that is away for a moment costs an installation no minute. */
const again: Backoff = { baseMs: 1_000, maxMs: lookMs };

/** Keeps the Secrets of the access to Viola while this process leads. */
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
  /** What is wrong, by Secret. */
  const troubles = new Map<string, string>();

  const halves = [
    ...(keeps.tls ? [{ keep: tls, first: kept.authority, second: kept.certificate }] : []),
    ...(keeps.tokens ? [{ keep: tokens, first: kept.token, second: kept.grants }] : []),
  ];

  /** One half that fails holds up neither the other one nor the NICs. */
  async function round(leading: AbortSignal): Promise<void> {
    for (const { keep, first, second } of halves) {
      try {
        await keep.round(leading);
        for (const { name } of [first, second]) {
          if (troubles.delete(name))
            log.info({ name }, 'a Secret of the access to Viola is kept again');
        }
      } catch (error) {
        leading.throwIfAborted();
        tell(error instanceof SecretError ? error : new SecretError(first.name, error));
      }
    }
  }

  function tell(trouble: SecretError): void {
    const { about: secret, message, isRace } = trouble;
    if (isRace) {
      log.info(
        { name: secret, err: trouble },
        'somebody else wrote a Secret of the access to Viola',
      );
      return;
    }
    metrics.count('multinic_viola_access_failures_total', { secret });
    const said = 'a Secret of the access to Viola cannot be kept';
    if (troubles.get(secret) !== message) log.error({ name: secret, err: trouble }, said);
    troubles.set(secret, message);
    const reason = 'ViolaAccessFailed' satisfies Reason;
    const { kind } = secretKind;
    const involved = {
      apiVersion: apiVersionOf(secretKind),
      kind,
      metadata: { namespace, name: secret },
    };
    recorder.record(involved, { type: 'Warning', reason, message });
  }

  async function goOn(leading: AbortSignal): Promise<void> {
    let failures = 0;
    const pauseMs = () => {
      failures = troubles.size === 0 ? 0 : failures + 1;
      return failures === 0 ? lookMs : backoffMs(failures - 1, again, random);
    };
    while (await passed(clock, pauseMs(), leading)) await round(leading);
  }

  return {
    /** Does the work of a leader beside keeping the Secrets, after a first look at them. */
    during: async (
      leading: AbortSignal,
      work: (leading: AbortSignal) => Promise<void>,
    ): Promise<void> =>
      recorder.during(leading, async () => {
        tokens.lead();
        tls.lead();
        await round(leading);
        await together(leading, clock, { operator: work, access: goOn });
      }),
    /** Why something cannot be kept, in the words of the log; undefined: all is well, or nothing was looked at yet. */
    get trouble(): string | undefined {
      return [...troubles.values()].join('; ') || undefined;
    },
    get token(): string | undefined {
      return tokens.inUse;
    },
    get authorities(): string | undefined {
      return tls.trusted;
    },
  };
}
