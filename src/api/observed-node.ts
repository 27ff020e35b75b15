import type { ExistingNodeConfig } from './node-configs-http.ts';

type Mode = Pick<ExistingNodeConfig, 'pausedToObserve'> & {
  readonly spec: Pick<ExistingNodeConfig['spec'], 'mode'>;
};

/** Returns whether an object has mode Observe: an older CRD drops `spec.mode`, so the annotation of Viola counts, too. */
export function isObserved(node: Mode): boolean {
  return node.spec.mode === 'Observe' || isOnlyPaused(node);
}

/** Returns whether the API server dropped `spec.mode` Observe: the controller then runs no check. */
export function isOnlyPaused({ spec, pausedToObserve = false }: Mode): boolean {
  return pausedToObserve && spec.mode !== 'Observe';
}
