import type * as z from 'zod';
import { bizConfigGroups } from '../../src/api/names.ts';
import type { HeapOwner } from '../../src/process/heap.ts';
import type { Settings } from '../../src/process/settings.ts';
import { settingsOfParts } from '../settings-of-parts.ts';
import { agentChartValues } from './values/agent-chart.ts';
import { operatorChartValues } from './values/operator-chart.ts';

export interface ChartCrd {
  readonly file: string;
  /** Condition of the template beside crds.install; default: none. */
  readonly onlyIf?: string;
}

export interface Chart {
  readonly name: string;
  readonly description: string;
  readonly values: z.ZodType;
  readonly parts: Readonly<Partial<Record<HeapOwner, Settings>>>;
  /** Definitions that the chart installs, by their file in deploy/crds. */
  readonly crds: readonly ChartCrd[];
  /** Page in docs/reference with the chart's values, and the beginning of this page. */
  readonly page: { readonly name: string; readonly title: string; readonly about: string };
}

const { operator, viola, lifecycle, controller } = settingsOfParts;

export const charts: readonly Chart[] = [
  {
    name: 'multinic-operator',
    description: 'MultiNIC in the management cluster: operator with inventory, and Viola',
    values: operatorChartValues,
    parts: { operator, viola, lifecycle },
    crds: [
      { file: 'multinic.example.com_openstackconfigs.yaml' },
      { file: 'multinic.example.com_multinicoperators.yaml', onlyIf: '.Values.lifecycle.enabled' },
    ],
    page: {
      name: 'values-operator',
      title: 'Values of the chart multinic-operator',
      about: aboutValues('operator.settings, viola.settings and lifecycle.settings'),
    },
  },
  {
    name: 'multinic-agent',
    description: 'MultiNIC in a business cluster: controller, and the namespace of its agents',
    values: agentChartValues,
    parts: { controller },
    crds: [
      { file: 'multinic.io_multinicnodeconfigs.yaml' },
      ...bizConfigGroups.map((group) => ({
        file: `${group}_multinicbizconfigs.yaml`,
        onlyIf: `(has "${group}" .Values.controller.bizConfig.groups)`,
      })),
    ],
    page: {
      name: 'values-agent',
      title: 'Values of the chart multinic-agent',
      about: aboutValues('controller.settings'),
    },
  },
];

function aboutValues(settings: string): string {
  return `Helm refuses a key that is not here, and a value of another type. A value without a default is left out or \`null\`. What is
below ${settings} is what the parts themselves know ([settings.md](settings.md)), as values with types: lists are lists, durations
are text such as \`1h30m\`. Where the default is *of the chart*, the chart has worked it out, and what is set here wins.`;
}
