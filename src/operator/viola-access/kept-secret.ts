import type { Effect } from '../../api/effects.ts';
import { accessSecrets, fieldManagers, labels } from '../../api/names.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { type Secret, secrets } from '../../kube/core-resources.ts';
import { isConflict } from '../../kube/errors.ts';
import type { Perform } from '../../process/effects.ts';

/** One Secret of the access to Viola, and the name of the write that makes it. */
export interface KeptSecret {
  readonly name: string;
  readonly type: 'Opaque' | 'kubernetes.io/tls';
  readonly effect: Effect;
}

export const kept = {
  authority: { name: accessSecrets.authority, type: 'Opaque', effect: 'operator.viola-ca.write' },
  certificate: {
    name: accessSecrets.certificate,
    type: 'kubernetes.io/tls',
    effect: 'operator.viola-certificate.write',
  },
  token: { name: accessSecrets.token, type: 'Opaque', effect: 'operator.viola-token.write' },
  grants: { name: accessSecrets.grants, type: 'Opaque', effect: 'operator.viola-grants.write' },
} as const satisfies Readonly<Record<string, KeptSecret>>;

/** What a Secret holds, as text by key. */
export interface Content {
  readonly data: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A Secret as it was read: what the next write of it is made onto. */
export interface HeldSecret extends Required<Content> {
  /** Undefined: there is no such Secret. */
  readonly fence: { readonly uid: string; readonly resourceVersion: string } | undefined;
}

/** A Secret that cannot be kept; what is done with the others goes on. */
export class SecretTrouble extends Error {
  override readonly name = 'SecretTrouble';
  readonly about: string;

  constructor(secret: string, error: unknown) {
    super(error instanceof Error ? error.message : String(error), { cause: error });
    this.about = secret;
  }

  /** Somebody wrote between our reading and our writing: it is looked at again. */
  get isRace(): boolean {
    return isConflict(this.cause);
  }
}

export interface SecretsDeps {
  readonly client: Pick<KubeClient, 'find' | 'apply'>;
  readonly namespace: string;
  readonly perform: Perform<Effect>;
}

export type KeptSecrets = ReturnType<typeof createKeptSecrets>;

/** Reads and writes the Secrets one by one; what fails is a `SecretTrouble`. */
export function createKeptSecrets({ client, namespace, perform }: SecretsDeps) {
  return {
    read: async (which: KeptSecret, signal: AbortSignal): Promise<HeldSecret> =>
      named(which, signal, async () =>
        heldSecret(await client.find(secrets, { namespace, name: which.name }, { signal }), which),
      ),

    /** Writes onto exactly what was read, so that of two leaders one is refused; other people's keys stay. */
    write: async (
      which: KeptSecret,
      { fence }: HeldSecret,
      { data, annotations = {} }: Content,
      signal: AbortSignal,
    ): Promise<HeldSecret> =>
      named(which, signal, async () => {
        const { name, type, effect } = which;
        // No object ever has the version 1: onto an absent one it is created, and a conflict when it exists meanwhile.
        const onto = fence ?? { resourceVersion: '1' };
        const object = {
          metadata: { name, namespace, labels: ourLabels, annotations, ...onto },
          type,
          data: encoded(data),
        };
        const options = { fieldManager: fieldManagers.operator, force: true, signal };
        return heldSecret(
          await perform(effect, () => client.apply(secrets, object, options)),
          which,
        );
      }),
  };
}

async function named<T>(
  { name }: KeptSecret,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    throw new SecretTrouble(name, error);
  }
}

const ourLabels = {
  [labels.appName]: 'multinic-operator',
  [labels.component]: 'operator',
  [labels.managedBy]: fieldManagers.operator,
  [labels.partOf]: 'multinic',
};

/** What a Secret holds; throws when it is not ours to write. */
export function heldSecret(secret: Secret | undefined, { name, type }: KeptSecret): HeldSecret {
  if (!secret) return { fence: undefined, data: {}, annotations: {} };
  const { uid = '', resourceVersion = '', annotations = {} } = secret.metadata;
  if (!isOurs(secret)) {
    throw new Error(
      `the Secret ${name} was not made by the operator and is left alone; delete it, or label it ${labels.managedBy}=${fieldManagers.operator} to hand it over`,
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
function isOurs({ metadata }: Secret): boolean {
  const managers = (metadata.managedFields ?? []) as readonly { readonly manager?: string }[];
  return (
    metadata.labels?.[labels.managedBy] === fieldManagers.operator ||
    managers.some(({ manager }) => manager === fieldManagers.operator)
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
