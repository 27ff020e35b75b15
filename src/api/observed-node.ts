import type { ExistingNodeConfig } from './node-configs-http.ts';

type Mode = Pick<ExistingNodeConfig, 'pausedToObserve'> & {
  readonly spec: Pick<ExistingNodeConfig['spec'], 'mode'>;
};

/** Returns whether an object has mode Observe. With an older CRD only Viola's annotation is stored, so this counts, too. */
export function isObserved(node: Mode): boolean {
  return node.spec.mode === 'Observe' || isOnlyPaused(node);
}

/** Returns whether the CRD is too old for `spec.mode`: the controller then runs no check. */
export function isOnlyPaused({ spec, pausedToObserve = false }: Mode): boolean {
  return pausedToObserve && spec.mode !== 'Observe';
}
