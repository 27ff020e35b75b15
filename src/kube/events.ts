import type { KubeClient } from './client.ts';
import type { Clock } from './clock.ts';
import type { KubeObject } from './object.ts';

export interface EventNote {
  readonly type: 'Normal' | 'Warning';
  /** CamelCase word of the table of reasons. */
  readonly reason: string;
  readonly message: string;
}

export interface EventRecorderOptions {
  readonly client: Pick<KubeClient, 'create' | 'get' | 'patch'>;
  /** Name of the part, shown by `kubectl describe`. */
  readonly component: string;
  readonly clock: Clock;
  readonly onError?: (error: unknown) => void;
}

export interface EventRecorder {
  /** Records in the background; never throws, at most one write per object and reason in 5 min. */
  record(involved: KubeObject, note: EventNote): void;
  /** Resolves when nothing is being written any more. */
  settled(): Promise<void>;
}

/** Writes core/v1 Events, which every Kubernetes since 1.20 serves and `kubectl describe` shows. */
export function createEventRecorder(_options: EventRecorderOptions): EventRecorder {
  throw new Error('being built');
}
