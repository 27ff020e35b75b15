import type { Scenario } from './scenario.ts';
import { across } from './table/across.ts';
import { delivery } from './table/delivery.ts';
import { files } from './table/files.ts';
import { hostBoundary } from './table/host-boundary.ts';
import { identity } from './table/identity.ts';
import { jobs } from './table/jobs.ts';
import { networkManager } from './table/network-manager.ts';
import { routing } from './table/routing.ts';

/** What went wrong in the field with systems like this one, and what proves that it does not any more. */
export const scenarios: readonly Scenario[] = [
  ...hostBoundary,
  ...networkManager,
  ...identity,
  ...files,
  ...routing,
  ...jobs,
  ...delivery,
  ...across,
];
