import * as z from 'zod';
import { type HeapOwner, heapLimits } from '../../../src/process/heap.ts';
import { asIs, flag, group, objectName, textByName, whole } from './describe.ts';
import { pullSecrets, tolerations } from './kubernetes.ts';

/** Values for the Pods of every part, beside settings. */
export function podValues() {
  const mine = z.array(z.looseObject({})).default([]);
  return {
    podLabels: textByName('Labels of the Pods, beside those of the chart.'),
    podAnnotations: textByName('Annotations of the Pods.'),
    nodeSelector: textByName('Labels that a node must have.'),
    tolerations,
    affinity: asIs('Affinity of the Pods; replicas are spread over nodes without it.'),
    priorityClassName: objectName()
      .describe('PriorityClass of the Pods; default: that of priorityClass, if it is created.')
      .optional(),
    terminationGracePeriodSeconds: whole(
      40,
      30,
      600,
      'Seconds that a Pod may take to end; a part takes up to 25.',
    ),
    extraVolumes: mine.describe(
      'Volumes for files that settings name, such as certificates; as in a Pod.',
    ),
    extraVolumeMounts: z
      .array(z.looseObject({}))
      .describe('Where they are mounted; as in a container.')
      .default([]),
  };
}

export function image(repository: string, of: string) {
  return group(`Image of ${of}: registry/repository:tag@digest.`, {
    registry: z
      .string()
      .regex(/^\S+$/)
      .describe('Used unless global.imageRegistry is set. localhost is what `make image` writes.')
      .default('localhost'),
    repository: z
      .string()
      .regex(/^[a-z0-9]+((\.|__?|-+)[a-z0-9]+)*(\/[a-z0-9]+((\.|__?|-+)[a-z0-9]+)*)*$/)
      .describe('Name below the registry.')
      .default(repository),
    // A tag with a digest passes here: a later check reports that the digest belongs in `digest`.
    tag: z
      .string()
      .regex(/^\w[\w.-]{0,127}(@.*)?$/)
      .describe('Default: the version of the chart.')
      .optional(),
    digest: z
      .string()
      .regex(/^sha256:[0-9a-f]{64}$/)
      .describe('Pins the image, whatever its tag says.')
      .optional(),
    pullPolicy: z
      .enum(['Always', 'IfNotPresent', 'Never'])
      .describe('When the kubelet asks the registry.')
      .default('IfNotPresent'),
  });
}

export function heap(part: HeapOwner) {
  const { young, old } = heapLimits(part);
  return group(
    'Limits of the heap in MB; the memory limit of the container has to be above them.',
    {
      young: whole(young, 1, 64, 'For what was just made.'),
      old: whole(old, 32, 8192, 'For what stays.'),
    },
  );
}

/** A chart that includes this chart has subchart values here: unknown keys belong to the parent chart. */
export const global = z
  .looseObject({
    imageRegistry: z
      .string()
      .regex(/^\S*$/)
      .describe('Registry of all images, instead of their own; for sites with a mirror.')
      .default(''),
    imagePullSecrets: pullSecrets
      .describe('Secrets with the credentials of the registry, in the namespace of the release.')
      .default([]),
    pinDigests: flag(
      false,
      'Whether Pods name images by the digests of the release, for a registry that has them unchanged (skopeo copy --preserve-digests).',
    ),
    imageDigests: z
      .array(z.string().regex(/^(amd64|arm64)\/[^@:]+:[^@]+@sha256:[0-9a-f]{64}$/))
      .describe(
        'Digests of the release as ARCHITECTURE/NAME:VERSION@DIGEST; the charts of a release have them.',
      )
      .default([]),
    imageArchitecture: z
      .enum(['amd64', 'arm64'])
      .describe('Architecture whose digests Pods name, if the release has several.')
      .optional(),
  })
  .describe('What holds for all images; shared with charts that include this one.');

export const priorityClass = group('A PriorityClass of its own for all Pods.', {
  create: z.boolean().describe('Whether the chart makes one.').default(false),
  value: whole(1_000_000, 0, 1_000_000_000, 'Its value; what the cluster runs has 2000000000.'),
});

export const crds = group('Definitions of our kinds.', {
  install: z
    .boolean()
    .describe(
      'Installed and upgraded with the release, and kept when it is uninstalled. Those that somebody else installed are adopted by `helm upgrade --install --take-ownership`.',
    )
    .default(true),
});
