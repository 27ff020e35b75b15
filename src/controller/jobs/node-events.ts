import { annotations } from '../../api/names.ts';
import type { Node } from '../../kube/core-resources.ts';
import { machineOf, readySince } from '../objects/machine.ts';
import type { NodeConfig } from '../objects/stores.ts';
import type { NodeEvents } from './runner.ts';

/**
 * Returns events that may have changed the node. Requests are cut to whole characters: an API server replaces half a
 * surrogate pair, and the value would never match.
 */
export function nodeEventsOf({ metadata }: NodeConfig, node: Node): NodeEvents {
  return {
    bootId: machineOf(node).bootId,
    readySince: readySince(node),
    checkAsked: requestIn(metadata, annotations.check),
    healAsked: requestIn(metadata, annotations.heal),
  };
}

function requestIn({ annotations: values }: NodeConfig['metadata'], name: string) {
  return values?.[name]?.slice(0, 64).toWellFormed();
}
