import type { Source } from './node-configs-http.ts';

const fields: Readonly<Record<keyof Source, true>> = {
  namespace: true,
  name: true,
  uid: true,
  generation: true,
  cluster: true,
  cloud: true,
  replaces: true,
};

/** Fields of a node's source that this build's Viola stores: Violas of earlier releases drop unknown fields. */
export const sourceFields: readonly string[] = Object.keys(fields);
