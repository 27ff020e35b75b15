import { argsText } from '../../api/args.ts';
import type { MultiNicNodeConfig } from '../../api/multinicnodeconfig.ts';
import { annotations } from '../../api/names.ts';
import type { Base, NodeErrorCode } from '../../api/node-configs-http.ts';
import { sourceOf } from '../node-configs/existing-node-config.ts';

export interface Refusal {
  readonly code: NodeErrorCode;
  readonly message: string;
  /** Values in the message. */
  readonly args?: string;
}

/**
 * Returns why a write planned against `base` must not replace the live object. `base: null` means create only.
 * Callers without base overwrite any object except a fenced object.
 */
export function refusalOf(
  live: MultiNicNodeConfig | undefined,
  base: Base | null | undefined,
  { acceptUnfenced }: { readonly acceptUnfenced: boolean },
): Refusal | undefined {
  if (live?.metadata.deletionTimestamp) {
    return { code: 'Deleting', message: 'the object is being deleted; repeat after the deletion' };
  }
  if (base === undefined) return acceptUnfenced ? undefined : unfencedRefusal(live);
  return base === null ? existsRefusal(live) : movedRefusal(live, base);
}

/**
 * Returns the refusal if the live object has another uid than the caller's base. A deletion increments the
 * generation, so generations are not compared.
 */
export function otherThan(live: MultiNicNodeConfig, base: Base | undefined): Refusal | undefined {
  const isSame = base === undefined || live.metadata.uid === base.uid;
  return isSame ? undefined : movedRefusal(live, base);
}

/** Returns the refusal if a different OpenstackConfig took the object over, which leaves uid and generation unchanged. */
export function ownerRefusal(
  live: MultiNicNodeConfig,
  sourceUid: string | undefined,
): Refusal | undefined {
  const source = sourceOf(live);
  if (sourceUid === undefined || source === undefined || source.uid === sourceUid) return undefined;
  const message = `OpenstackConfig ${source.namespace}/${source.name} has taken the object over; read it and plan again`;
  const args = argsText({ config: `${source.namespace}/${source.name}` });
  return { code: 'StaleBase', message, args };
}

function existsRefusal(live: MultiNicNodeConfig | undefined): Refusal | undefined {
  const message = 'base is null (create only), but the object exists; read it and plan again';
  return live ? { code: 'StaleBase', message } : undefined;
}

function movedRefusal(live: MultiNicNodeConfig | undefined, base: Base): Refusal | undefined {
  const { uid = '', generation = 0 } = live?.metadata ?? {};
  if (uid === base.uid && generation === base.generation) return undefined;
  const now = live ? `${uid} generation ${generation}` : 'deleted';
  const message = `base is ${base.uid} generation ${base.generation}, the object is ${now}; read it and plan again`;
  return { code: 'StaleBase', message, ...(live && { args: argsText({ uid, generation }) }) };
}

function unfencedRefusal(live: MultiNicNodeConfig | undefined): Refusal | undefined {
  if (live?.metadata.annotations?.[annotations.fenced] === undefined) return undefined;
  const message =
    'the last writer of the object sent base; send base as well, or start Viola with --accept-unfenced';
  return { code: 'Fenced', message };
}
