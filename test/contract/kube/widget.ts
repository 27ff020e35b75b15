import type { KubeObject } from '../../../src/kube/object.ts';
import { defineResource } from '../../../src/kube/resource.ts';

/** The suite's own kind: a field for each schema feature. */
export interface Widget extends KubeObject {
  readonly spec: {
    readonly color: string;
    readonly size?: number;
    readonly code?: string;
    readonly lines?: readonly string[];
    readonly settings?: Readonly<Record<string, string>>;
    readonly parts?: readonly { readonly name: string; readonly count?: number }[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

const group = 'contract.example.com';

export const widgets = defineResource<Widget>({
  group,
  version: 'v1',
  plural: 'widgets',
  kind: 'Widget',
  namespaced: true,
});

/** Resource name that no server serves. */
export const gadgets = defineResource<KubeObject>({
  group,
  version: 'v1',
  plural: 'gadgets',
  kind: 'Gadget',
  namespaced: true,
});

const text = { type: 'string' } as const;

const spec = {
  type: 'object',
  required: ['color'],
  properties: {
    color: { type: 'string', enum: ['red', 'green', 'blue'] },
    size: { type: 'integer', minimum: 1, maximum: 10, default: 3 },
    code: { type: 'string', pattern: '^[a-z]+$', maxLength: 8 },
    lines: { type: 'array', items: text, 'x-kubernetes-list-type': 'atomic' },
    settings: { type: 'object', additionalProperties: text },
    parts: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name'],
        properties: { name: text, count: { type: 'integer', default: 1 } },
      },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    },
  },
} as const;

const status = {
  type: 'object',
  properties: {
    phase: text,
    conditions: {
      type: 'array',
      items: {
        type: 'object',
        required: ['type', 'status'],
        properties: { type: text, status: text },
      },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    },
  },
} as const;

export const widgetCrd = {
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', properties: { spec, status } } },
      },
    ],
  },
} as const;
