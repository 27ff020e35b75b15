import type { Deployment } from 'kubernetes-types/apps/v1.js';
import { describe, expect, it } from 'vitest';
import { linkFindings } from './link-findings.ts';
import { type Manifest, ofKind, rendered, renderedAs, workloadsIn } from './manifests.ts';
import { objectFindings } from './object-findings.ts';
import { faults, type Ground } from './planted-faults.ts';
import { podFindings } from './pod-findings.ts';

/** All that is wrong with what a chart renders. */
function findings(manifests: readonly Manifest[]): string[] {
  const ofPods = workloadsIn(manifests).flatMap((workload) =>
    podFindings(workload).map((text) => `${workload.metadata.name} ${text}`),
  );
  return [...ofPods, ...objectFindings(manifests), ...linkFindings(manifests)];
}

it.each(rendered)('nothing is found in $name', ({ manifests }) => {
  expect(findings(manifests)).toEqual([]);
});

function ground(): Ground {
  const manifests = structuredClone(renderedAs('operator-default')) as Manifest[];
  const [deployment] = ofKind<Deployment>(manifests, 'Deployment');
  const pod = deployment?.spec?.template.spec;
  const container = pod?.containers[0];
  if (!deployment || !pod || !container) throw new Error('there is no Deployment');
  return { manifests, deployment, pod, container, labels: deployment.metadata?.labels ?? {} };
}

describe('it is found that something', () => {
  it.each(faults)('%s', (found, plant) => {
    const planted = ground();
    plant(planted);
    expect(findings(planted.manifests)).toContainEqual(expect.stringContaining(found));
  });
});
