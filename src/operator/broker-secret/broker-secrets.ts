import { createHash } from 'node:crypto';
import type { Effect } from '../../api/effects.ts';
import { fieldManagers, labels } from '../../api/names.ts';
import type { OperatorReason } from '../../api/reasons.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { type Secret, secrets } from '../../kube/core-resources.ts';
import { isForbidden } from '../../kube/errors.ts';
import type { EventRecorder } from '../../kube/events.ts';
import { keyOf } from '../../kube/object.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import type { Broker } from '../../openstack/contrabass.ts';
import type { Owner } from '../../plan/plan.ts';
import type { Perform } from '../../process/effects.ts';
import type { Logger } from '../../process/log.ts';
import type { Clock } from '../../time/clock.ts';
import { openstackConfigs } from '../openstack-config.ts';
import { operatorRights } from '../rights.ts';
import { type Content, contentOf, encoded, holds, secretName, whoseIs } from './content.ts';

/** How often it is looked whether somebody has changed or deleted one. */
export const checkIntervalMs = 10 * 60_000;
/** No sooner is one tried again that could not be written. */
export const retryMs = 60_000;

export interface BrokerSecretsOptions {
  readonly isOn: boolean;
  readonly client: Pick<KubeClient, 'find' | 'apply'>;
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly perform: Perform<Effect>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The Secret of one OpenstackConfig. */
interface Kept {
  readonly owner: Owner;
  wanted: Content;
  /** Digest of what was wanted when it was last tended. */
  tended: string | undefined;
  dueMs: number;
  /** What people were told last: a log is no place for repetitions. */
  told: string | undefined;
}

/**
 * Secrets in which others find the broker that Contrabass names. One after the other and beside everything else: whatever
 * happens to them, NICs neither wait for it nor share connections with more than one write.
 */
export class BrokerSecrets {
  readonly #options: BrokerSecretsOptions;
  readonly #kept = new Map<string, Kept>();
  readonly #waiting = new Set<Kept>();
  #working: Promise<void> | undefined;
  #over = AbortSignal.abort();

  constructor(options: BrokerSecretsOptions) {
    this.#options = options;
  }

  /** Writes while `work` is done, and nothing any more when it is over or `leading` aborts. */
  async during(leading: AbortSignal, work: () => Promise<void>): Promise<void> {
    const over = new AbortController();
    const end = (): void => over.abort(leading.reason);
    leading.addEventListener('abort', end, { once: true });
    this.#over = over.signal;
    try {
      await work();
    } finally {
      leading.removeEventListener('abort', end);
      end();
      this.#kept.clear();
      this.#waiting.clear();
      await this.#working;
    }
  }

  /** Has the Secret say this before long. What Contrabass no longer says stays as it was: somebody may still use it. */
  keep(owner: Owner, broker: Broker | undefined): void {
    const wanted = contentOf(broker);
    if (!this.#options.isOn || this.#over.aborted || !wanted) return;
    const key = keyOf(owner);
    const before = this.#kept.get(key);
    const kept =
      before?.owner.uid === owner.uid
        ? before
        : { owner, wanted, tended: undefined, dueMs: 0, told: undefined };
    kept.wanted = wanted;
    this.#kept.set(key, kept);
    const isDue = this.#options.clock.monotonicMs() >= kept.dueMs;
    if (!isDue && kept.tended === digest(wanted)) return;
    this.#waiting.add(kept);
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
    });
  }

  /** Writes the Secret of an OpenstackConfig that is gone no more: Kubernetes deletes it with its owner. */
  leave(key: string): void {
    const kept = this.#kept.get(key);
    this.#kept.delete(key);
    if (kept) this.#waiting.delete(kept);
  }

  async #work(): Promise<void> {
    const { clock } = this.#options;
    for (const kept of this.#waiting) {
      this.#waiting.delete(kept);
      const { wanted } = kept;
      const isKept = await this.#tend(kept, wanted);
      kept.tended = digest(wanted);
      kept.dueMs = clock.monotonicMs() + (isKept ? checkIntervalMs : retryMs);
    }
  }

  /** Answers whether the Secret is as it should be. */
  async #tend(kept: Kept, wanted: Content): Promise<boolean> {
    const { client } = this.#options;
    const { owner } = kept;
    const signal = this.#over;
    const ref = { namespace: owner.namespace, name: secretName(owner.name) };
    try {
      const found = await client.find(secrets, ref, { signal });
      if (found && !this.#isWritable(kept, found)) return false;
      if (!found || !holds(found, wanted)) await this.#write(owner, found, wanted, signal);
      kept.told = undefined;
      return true;
    } catch (error) {
      if (!signal.aborted) this.#complain(kept, error);
      return false;
    }
  }

  #isWritable(kept: Kept, found: Secret): boolean {
    const whose = whoseIs(found, kept.owner);
    const secret = keyOf(found);
    if (whose === 'leftover') {
      this.#say(
        kept,
        `Secret ${secret} is that of a former OpenstackConfig; it is made anew when it is gone`,
      );
      return false;
    }
    if (whose === 'ours' && found.type === 'Opaque') return true;
    const why =
      whose === 'ours'
        ? `has the type ${found.type}, which cannot be changed`
        : 'was not made for this OpenstackConfig';
    const message = `Secret ${secret} ${why}: it is left alone, and what Contrabass says of the message queue is written nowhere; delete it, or set RABBITMQ_SECRETS=false`;
    if (this.#say(kept, message)) this.#record(kept.owner, message);
    return false;
  }

  /** Onto exactly what was read, so that nothing is written over what somebody made meanwhile. */
  async #write(
    owner: Owner,
    found: Secret | undefined,
    wanted: Content,
    signal: AbortSignal,
  ): Promise<void> {
    const { client, perform, log } = this.#options;
    const { namespace, name, uid } = owner;
    const { uid: of = '', resourceVersion = '' } = found?.metadata ?? {};
    // No object ever has the version 1: onto an absent one it is created, and a conflict when it exists meanwhile.
    const onto = found ? { uid: of, resourceVersion } : { resourceVersion: '1' };
    const { kind } = openstackConfigs;
    const apiVersion = apiVersionOf(openstackConfigs);
    const object = {
      metadata: {
        namespace,
        name: secretName(name),
        labels: ourLabels,
        ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
        ...onto,
      },
      type: 'Opaque',
      data: encoded(wanted),
    };
    const options = { fieldManager: fieldManagers.operator, force: true, signal };
    await perform('operator.broker-secret.write', () => client.apply(secrets, object, options));
    log.info(
      { config: keyOf(owner), secretName: keyOf(object) },
      'Secret of the message queue written',
    );
  }

  #complain(kept: Kept, error: unknown): void {
    const { namespace, name } = kept.owner;
    const why = error instanceof Error ? error.message : String(error);
    const fix = isForbidden(error)
      ? `; let the operator write Secrets of ${namespace} (secretNamespaces, Role ${operatorRights.roles.brokerSecrets})`
      : '';
    this.#say(kept, `Secret ${namespace}/${secretName(name)} is not written: ${why}${fix}`);
  }

  /** Answers whether it was news. */
  #say(kept: Kept, message: string): boolean {
    if (kept.told === message) return false;
    kept.told = message;
    this.#options.log.warn({ config: keyOf(kept.owner) }, message);
    return true;
  }

  #record({ namespace, name, uid }: Owner, message: string): void {
    const { kind } = openstackConfigs;
    const apiVersion = apiVersionOf(openstackConfigs);
    const reason: OperatorReason = 'SecretNotOurs';
    const involved = { apiVersion, kind, metadata: { namespace, name, uid } };
    this.#options.recorder.record(involved, { type: 'Warning', reason, message });
  }
}

const ourLabels = {
  [labels.appName]: 'multinic-operator',
  [labels.component]: 'operator',
  [labels.managedBy]: fieldManagers.operator,
  [labels.partOf]: 'multinic',
};

function digest(content: Content): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}
