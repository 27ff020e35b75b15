import { createHash } from 'node:crypto';
import type { Effect } from '../../../api/effects.ts';
import { fieldManagers, labels } from '../../../api/names.ts';
import type { OperatorReason } from '../../../api/reasons.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { type Secret, secrets } from '../../../kube/core-resources.ts';
import { isForbidden } from '../../../kube/errors.ts';
import type { EventRecorder } from '../../../kube/events.ts';
import { keyOf } from '../../../kube/object.ts';
import { apiVersionOf } from '../../../kube/resource.ts';
import type { Broker } from '../../../openstack/contrabass.ts';
import type { Owner } from '../../../plan/plan.ts';
import type { Perform } from '../../../process/effects.ts';
import type { Logger } from '../../../process/log.ts';
import type { Clock } from '../../../time/clock.ts';
import { openstackConfigs } from '../../model/openstack-config.ts';
import { operatorRights } from '../../rights.ts';
import { type Content, contentOf, encoded, holds, secretName, whoseIs } from './content.ts';

/** Interval (ms) at which an unchanged Secret is checked for foreign edits and deletion. */
export const checkIntervalMs = 10 * 60_000;
/** Interval (ms) between attempts after a failure. */
export const retryMs = 60_000;

export interface BrokerSecretsOptions {
  readonly isOn: boolean;
  readonly client: Pick<KubeClient, 'find' | 'apply'>;
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly perform: Perform<Effect>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** One OpenstackConfig's Secret. */
interface ManagedSecret {
  readonly owner: Owner;
  wanted: Content;
  /** Digest of `wanted` at the last write or check. */
  checked: string | undefined;
  dueMs: number;
  /** Last logged message; a repeated message is not logged. */
  lastMessage: string | undefined;
}

/**
 * Secrets with the broker that Contrabass names, for use by other programs. Secrets are written singly and in the
 * background: NICs never wait for a Secret, and at most one connection is in use.
 */
export class BrokerSecrets {
  readonly #options: BrokerSecretsOptions;
  readonly #managed = new Map<string, ManagedSecret>();
  readonly #waiting = new Set<ManagedSecret>();
  #working: Promise<void> | undefined;
  #over = AbortSignal.abort();

  constructor(options: BrokerSecretsOptions) {
    this.#options = options;
  }

  /** Writes while `work` runs; stops when `work` ends or `leading` aborts. */
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
      this.#managed.clear();
      this.#waiting.clear();
      await this.#working;
    }
  }

  /**
   * Schedules the Secret's write. Without complete broker data the Secret stays unchanged, because other programs may
   * still use it.
   */
  keep(owner: Owner, broker: Broker | undefined): void {
    const wanted = contentOf(broker);
    if (!this.#options.isOn || this.#over.aborted || !wanted) return;
    const key = keyOf(owner);
    const before = this.#managed.get(key);
    const managed =
      before?.owner.uid === owner.uid
        ? before
        : { owner, wanted, checked: undefined, dueMs: 0, lastMessage: undefined };
    managed.wanted = wanted;
    this.#managed.set(key, managed);
    const isDue = this.#options.clock.monotonicMs() >= managed.dueMs;
    if (!isDue && managed.checked === digest(wanted)) return;
    this.#waiting.add(managed);
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
    });
  }

  /** Stops writing a removed OpenstackConfig's Secret: Kubernetes deletes the Secret with its owner. */
  leave(key: string): void {
    const managed = this.#managed.get(key);
    this.#managed.delete(key);
    if (managed) this.#waiting.delete(managed);
  }

  async #work(): Promise<void> {
    const { clock } = this.#options;
    for (const managed of this.#waiting) {
      this.#waiting.delete(managed);
      const { wanted } = managed;
      const isCurrent = await this.#ensure(managed, wanted);
      managed.checked = digest(wanted);
      managed.dueMs = clock.monotonicMs() + (isCurrent ? checkIntervalMs : retryMs);
    }
  }

  /** Returns whether the Secret is up to date. */
  async #ensure(managed: ManagedSecret, wanted: Content): Promise<boolean> {
    const { client } = this.#options;
    const { owner } = managed;
    const signal = this.#over;
    const ref = { namespace: owner.namespace, name: secretName(owner.name) };
    try {
      const found = await client.find(secrets, ref, { signal });
      if (found && !this.#isWritable(managed, found)) return false;
      if (!found || !holds(found, wanted)) await this.#write(owner, found, wanted, signal);
      managed.lastMessage = undefined;
      return true;
    } catch (error) {
      if (!signal.aborted) this.#reportFailure(managed, error);
      return false;
    }
  }

  #isWritable(managed: ManagedSecret, found: Secret): boolean {
    const whose = whoseIs(found, managed.owner);
    const secret = keyOf(found);
    if (whose === 'leftover') {
      this.#warn(
        managed,
        `Secret ${secret} belongs to a deleted OpenstackConfig; the operator creates it again after Kubernetes has deleted it`,
      );
      return false;
    }
    if (whose === 'ours' && found.type === 'Opaque') return true;
    const why =
      whose === 'ours'
        ? `has the type "${found.type}" instead of "Opaque"`
        : 'does not belong to this OpenstackConfig';
    const message = `Secret ${secret} ${why}, so the operator does not write the message queue of Contrabass to it; delete the Secret, or set RABBITMQ_SECRETS=false`;
    if (this.#warn(managed, message)) this.#record(managed.owner, message);
    return false;
  }

  /** Applies at the uid and resourceVersion read before, so a concurrent foreign write is not overwritten. */
  async #write(
    owner: Owner,
    found: Secret | undefined,
    wanted: Content,
    signal: AbortSignal,
  ): Promise<void> {
    const { client, perform, log } = this.#options;
    const { namespace, name, uid } = owner;
    const { uid: of = '', resourceVersion = '' } = found?.metadata ?? {};
    // No object has resourceVersion 1: an absent Secret is created, and an existing Secret gives a conflict.
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
    log.info({ config: keyOf(owner), secretName: keyOf(object) }, 'message queue Secret written');
  }

  #reportFailure(managed: ManagedSecret, error: unknown): void {
    const { namespace, name } = managed.owner;
    const why = error instanceof Error ? error.message : String(error);
    const fix = isForbidden(error)
      ? `; grant the operator write access to Secrets in namespace ${namespace} (chart value secretNamespaces, Role ${operatorRights.roles.brokerSecrets})`
      : '';
    this.#warn(managed, `Secret ${namespace}/${secretName(name)} cannot be written: ${why}${fix}`);
  }

  /** Logs a new message; returns whether the message was new. */
  #warn(managed: ManagedSecret, message: string): boolean {
    if (managed.lastMessage === message) return false;
    managed.lastMessage = message;
    this.#options.log.warn({ config: keyOf(managed.owner) }, message);
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
