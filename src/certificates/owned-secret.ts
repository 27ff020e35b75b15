import type { KubeClient } from '../kube/client/client.ts';
import { type Secret, secrets } from '../kube/core-resources.ts';
import { isConflict } from '../kube/errors.ts';
import type { Perform } from '../process/effects.ts';

/** One Secret that a part keeps, and the name of the effect that writes it. */
export interface OwnedSecret<Effect extends string = string> {
  readonly name: string;
  readonly type: 'Opaque' | 'kubernetes.io/tls';
  readonly effect: Effect;
}

/** The part that keeps Secrets. */
export interface SecretKeeper {
  /** Also the value of the label `app.kubernetes.io/managed-by`. */
  readonly fieldManager: string;
  /** Name of the part in messages, such as `the operator`. */
  readonly called: string;
  /** Labels of the Secrets beside `app.kubernetes.io/managed-by`. */
  readonly labels: Readonly<Record<string, string>>;
}

/** What a Secret holds, as text by key. */
export interface Content {
  readonly data: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A Secret as it was read: what the next write of it is made onto. */
export interface ReadSecret extends Required<Content> {
  /** Undefined: there is no such Secret. */
  readonly fence: { readonly uid: string; readonly resourceVersion: string } | undefined;
}

/** A Secret that cannot be kept; what is done with the others goes on. */
export class SecretError extends Error {
  override readonly name = 'SecretTrouble';
  readonly about: string;

  constructor(secret: string, error: unknown) {
    super(error instanceof Error ? error.message : String(error), { cause: error });
    this.about = secret;
  }

  /** Another process wrote between our read and our write: the next round reads again. */
  get isRace(): boolean {
    return isConflict(this.cause);
  }
}

export interface SecretsDeps<Effect extends string> {
  readonly client: Pick<KubeClient, 'find' | 'apply'>;
  readonly namespace: string;
  readonly perform: Perform<Effect>;
  readonly keeper: SecretKeeper;
}

/** Reads and writes Secrets one by one; what fails is a `SecretTrouble`. */
export interface OwnedSecrets<Effect extends string> {
  read(which: OwnedSecret<Effect>, signal: AbortSignal): Promise<ReadSecret>;
  /** Writes onto exactly what was read, so that of two leaders one is refused; other people's keys stay. */
  write(
    which: OwnedSecret<Effect>,
    onto: ReadSecret,
    content: Content,
    signal: AbortSignal,
  ): Promise<ReadSecret>;
}

const managedBy = 'app.kubernetes.io/managed-by';

export function createOwnedSecrets<Effect extends string>({
  client,
  namespace,
  perform,
  keeper,
}: SecretsDeps<Effect>): OwnedSecrets<Effect> {
  const labels = { ...keeper.labels, [managedBy]: keeper.fieldManager };
  return {
    read: async (which, signal) =>
      named(which, signal, async () =>
        heldSecret(
          await client.find(secrets, { namespace, name: which.name }, { signal }),
          which,
          keeper,
        ),
      ),

    write: async (which, { fence }, { data, annotations = {} }, signal) =>
      named(which, signal, async () => {
        const { name, type, effect } = which;
        // No object ever has the version 1: onto an absent one it is created, and a conflict when it exists meanwhile.
        const onto = fence ?? { resourceVersion: '1' };
        const object = {
          metadata: { name, namespace, labels, annotations, ...onto },
          type,
          data: encoded(data),
        };
        const options = { fieldManager: keeper.fieldManager, force: true, signal };
        return heldSecret(
          await perform(effect, () => client.apply(secrets, object, options)),
          which,
          keeper,
        );
      }),
  };
}

async function named<T>(
  { name }: OwnedSecret,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    throw new SecretError(name, error);
  }
}

/** What a Secret holds; throws when it is not ours to write. */
function heldSecret(
  secret: Secret | undefined,
  { name, type }: OwnedSecret,
  keeper: SecretKeeper,
): ReadSecret {
  if (!secret) return { fence: undefined, data: {}, annotations: {} };
  const { uid = '', resourceVersion = '', annotations = {} } = secret.metadata;
  if (!isKeptBy(keeper, secret)) {
    throw new Error(
      `the Secret ${name} was not made by ${keeper.called} and is left alone; delete it, or label it ${managedBy}=${keeper.fieldManager} to hand it over`,
    );
  }
  if (secret.type !== type) {
    throw new Error(
      `the Secret ${name} has the type ${secret.type}, which cannot be changed to ${type}; delete it and it is made anew`,
    );
  }
  return { fence: { uid, resourceVersion }, annotations, data: decoded(secret.data) };
}

/** The label alone after a restore of a backup, the manager alone after an edit of the labels. */
function isKeptBy({ fieldManager }: SecretKeeper, { metadata }: Secret): boolean {
  const managers = (metadata.managedFields ?? []) as readonly { readonly manager?: string }[];
  return (
    metadata.labels?.[managedBy] === fieldManager ||
    managers.some(({ manager }) => manager === fieldManager)
  );
}

function encoded(data: Content['data']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  );
}

function decoded(data: Secret['data'] = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [
      key,
      Buffer.from(value, 'base64').toString('utf8'),
    ]),
  );
}
