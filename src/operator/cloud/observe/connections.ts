import type { ViolaClient } from '../../clusters/deliver/viola-client.ts';
import type { CloudView } from './cloud-view.ts';

/** A sync's or what-if's cloud and Viola. */
export interface Connections {
  readonly view: CloudView;
  readonly viola: ViolaClient;
  /** Endpoints with certificate verification disabled by the CR. */
  readonly unverified: readonly string[];
}
