export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly generation?: number;
  readonly resourceVersion?: string;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: unknown;
}

export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

export interface ObjectRef {
  readonly namespace?: string;
  readonly name: string;
}

type DeepPartial<T> = unknown extends T
  ? T
  : T extends readonly (infer Item)[]
    ? readonly DeepPartial<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]?: DeepPartial<T[Key]> }
      : T;

/** An object to write: any part, with its name. */
export type Draft<T extends KubeObject> = DeepPartial<Omit<T, 'metadata'>> & {
  readonly metadata: ObjectMeta;
};

/** Returns `namespace/name`, or `name` without a namespace: the key in stores and queues. */
export function keyOf(object: KubeObject | ObjectRef): string {
  const { namespace, name } = 'metadata' in object ? object.metadata : object;
  return namespace ? `${namespace}/${name}` : name;
}

/** Returns the reference for a `keyOf` key; object names never contain a slash. */
export function refOf(key: string): ObjectRef {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
