import type { Clock, Random } from '../../src/time/clock.ts';
import type { KubeObject } from './objects/object.ts';
import { type ResourceType, resourceOf } from './resources/resource-type.ts';
import { TypeRegistry } from './resources/type-registry.ts';
import { Storage } from './storage/storage.ts';

/** Everything a request or a controller works on. */
export interface Cluster {
  readonly storage: Storage;
  readonly types: TypeRegistry;
  readonly clock: Clock;
  readonly random: Random;
}

/** Where an object is: its kind, its namespace (none of a cluster-wide kind), its name. */
export interface Target {
  readonly type: ResourceType;
  readonly namespace: string | undefined;
  readonly name: string;
}

export function createCluster(options: {
  readonly clock: Clock;
  readonly random: Random;
  readonly watchHistory: number;
}): Cluster {
  const storage = new Storage(options.watchHistory);
  return {
    storage,
    types: new TypeRegistry(storage),
    clock: options.clock,
    random: options.random,
  };
}

/** The time as Kubernetes writes it: RFC 3339 without fractions. */
export function timestamp(cluster: Cluster, laterMs = 0): string {
  const time = new Date(cluster.clock.now().getTime() + laterMs);
  return `${time.toISOString().slice(0, 19)}Z`;
}

/** A random version 4 UUID from the injected randomness. */
export function newUid(random: Random): string {
  const digit = (from: string): string => from.charAt(Math.floor(random() * from.length));
  return 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, (place) =>
    digit(place === 'x' ? '0123456789abcdef' : '89ab'),
  );
}

/** Five characters as the server appends them to `generateName`: no vowels, so that they spell nothing. */
export function nameSuffix(random: Random): string {
  const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
  const pick = (): string => alphabet.charAt(Math.floor(random() * alphabet.length));
  return Array.from({ length: 5 }, pick).join('');
}

export function keyOfTarget({ namespace, name }: Target): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** The stored object, or undefined. */
export function read(cluster: Cluster, target: Target): KubeObject | undefined {
  return cluster.storage.get(resourceOf(target.type), keyOfTarget(target));
}
