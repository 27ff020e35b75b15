import type { KubeClient } from '../kube/client/client.ts';
import { type Secret, secrets } from '../kube/core-resources.ts';
import { isConflict } from '../kube/errors.ts';
import type { Perform } from '../process/effects.ts';

/** A Secret owned by a part, with the effect name for its writes. */
export interface OwnedSecret<Effect extends string = string> {
  readonly name: string;
  readonly type: 'Opaque' | 'kubernetes.io/tls';
  readonly effect: Effect;
}

/** The part that owns the Secrets. */
interface SecretKeeper {
  /** Also the value for label `app.kubernetes.io/managed-by`. */
  readonly fieldManager: string;
  /** The part's name in messages, such as `the operator`. */
  readonly called: string;
  /** Secret labels beside `app.kubernetes.io/managed-by`. */
  readonly labels: Readonly<Record<string, string>>;
}

/** Secret content, as text by key. */
export interface Content {
  readonly data: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A Secret as read, with the base for the next write. */
export interface ReadSecret extends Required<Content> {
  /** undefined: no such Secret exists. */
  readonly fence: { readonly uid: string; readonly resourceVersion: string } | undefined;
}

/** Error for a Secret with a failed read or write; work on other Secrets continues. */
export class SecretError extends Error {
  override readonly name = 'SecretTrouble';
  readonly about: string;

  constructor(secret: string, error: unknown) {
    super(error instanceof Error ? error.message : String(error), { cause: error });
    this.about = secret;
  }

  /** True if another process wrote between our read and our write: the next round reads again. */
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

/** Reads and writes Secrets one by one; failures throw `SecretError`. */
export interface OwnedSecrets<Effect extends string> {
  read(target: OwnedSecret<Effect>, signal: AbortSignal): Promise<ReadSecret>;
  /** Writes with the read resourceVersion: if two leaders write, the API server refuses one. Foreign keys stay. */
  write(
    target: OwnedSecret<Effect>,
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
    read: async (target, signal) =>
      withSecretName(target, signal, async () =>
        contentOf(
          await client.find(secrets, { namespace, name: target.name }, { signal }),
          target,
          keeper,
        ),
      ),

    write: async (target, { fence }, { data, annotations = {} }, signal) =>
      withSecretName(target, signal, async () => {
        const { name, type, effect } = target;
        // No object ever has resourceVersion 1: the API server creates an absent object, and returns a conflict for
        // an existing one.
        const onto = fence ?? { resourceVersion: '1' };
        const object = {
          metadata: { name, namespace, labels, annotations, ...onto },
          type,
          data: encoded(data),
        };
        const options = { fieldManager: keeper.fieldManager, force: true, signal };
        return contentOf(
          await perform(effect, () => client.apply(secrets, object, options)),
          target,
          keeper,
        );
      }),
  };
}

async function withSecretName<T>(
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

/** Returns the Secret's content; throws if the Secret is not ours to write. */
function contentOf(
  secret: Secret | undefined,
  { name, type }: OwnedSecret,
  keeper: SecretKeeper,
): ReadSecret {
  if (!secret) return { fence: undefined, data: {}, annotations: {} };
  const { uid = '', resourceVersion = '', annotations = {} } = secret.metadata;
  if (!isOwnedBy(keeper, secret)) {
    throw new Error(
      `Secret ${name} was not created by ${keeper.called} and stays unchanged; delete it, or hand it over by its label ${managedBy}=${keeper.fieldManager}`,
    );
  }
  if (secret.type !== type) {
    throw new Error(
      `Secret ${name} has type ${secret.type}, which cannot be changed to ${type}; delete it, and ${keeper.called} creates it again`,
    );
  }
  return { fence: { uid, resourceVersion }, annotations, data: decoded(secret.data) };
}

/** Label or field manager is enough: a restored backup lacks the manager, an edit may drop the label. */
function isOwnedBy({ fieldManager }: SecretKeeper, { metadata }: Secret): boolean {
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
