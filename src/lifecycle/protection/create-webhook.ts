import type { Effect } from '../../api/effects.ts';
import type { metricTable } from '../../api/metrics.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { Perform } from '../../process/effects.ts';
import type { PartContext } from '../../process/part.ts';
import type { LifecycleSettings } from '../settings.ts';
import type { Webhook } from './webhook.ts';

export interface WebhookOptions {
  readonly client: KubeClient;
  readonly settings: LifecycleSettings;
  readonly context: PartContext<typeof metricTable>;
  readonly perform: Perform<Effect>;
}

export async function createWebhook(_options: WebhookOptions): Promise<Webhook> {
  throw new Error('not written yet');
}
