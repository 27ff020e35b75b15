import { hash } from 'node:crypto';
import type { EventObject } from './core-resources.ts';
import type { KubeObject } from './object.ts';

const maxMessageLength = 1_024;

export interface EventNote {
  readonly type: 'Normal' | 'Warning';
  /** CamelCase word from the reasons table. */
  readonly reason: string;
  readonly message: string;
}

/** Object fields an Event needs; keeping all fields would waste memory. */
type Involved = Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>;

/** Event to write. */
export interface Notice {
  readonly involved: Involved;
  readonly note: EventNote;
}

/** How often and when an Event occurred. */
export interface Occurrences {
  readonly count: number;
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
}

export function noticeOf({ apiVersion, kind, metadata }: KubeObject, note: EventNote): Notice {
  const { name, namespace, uid, resourceVersion } = metadata;
  const involved = {
    ...(apiVersion ? { apiVersion } : {}),
    ...(kind ? { kind } : {}),
    metadata: {
      name,
      ...(namespace ? { namespace } : {}),
      ...(uid ? { uid } : {}),
      ...(resourceVersion ? { resourceVersion } : {}),
    },
  };
  return { involved, note };
}

/** Returns the Event that `component` creates under `name`. */
export function eventOf(
  component: string,
  name: string,
  notice: Notice,
  occurrences: Occurrences,
): EventObject {
  const { apiVersion, kind, metadata } = notice.involved;
  return {
    metadata: { name, namespace: namespaceOf(notice) },
    involvedObject: {
      ...(apiVersion ? { apiVersion } : {}),
      ...(kind ? { kind } : {}),
      ...metadata,
    },
    type: notice.note.type,
    reason: notice.note.reason,
    message: messageOf(notice),
    source: { component },
    reportingComponent: component,
    reportingInstance: component,
    ...occurrences,
  };
}

/** Returns a valid Event name, equal for equal component, object, reason and slot. */
export function nameOf(component: string, { involved, note }: Notice, slot: number): string {
  const { name, uid } = involved.metadata;
  const what = hash('sha256', `${component}/${uid}/${note.reason}`).slice(0, 8);
  const stem = name.slice(0, 200).replace(/[^a-z0-9]+$/, '');
  return `${stem}.${what}${slot.toString(16)}`;
}

/** Events about cluster-scoped objects belong in `default`: the API server refuses other namespaces. */
export function namespaceOf({ involved }: Notice): string {
  return involved.metadata.namespace ?? 'default';
}

export function messageOf({ note }: Notice): string {
  // Messages may quote user-defined names: a terminal would execute control characters.
  return note.message
    .slice(0, maxMessageLength)
    .replaceAll(/\p{Cc}/gu, ' ')
    .toWellFormed();
}
