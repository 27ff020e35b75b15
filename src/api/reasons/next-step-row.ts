import { labels } from '../names.ts';
import type { Wording } from '../texts/text.ts';

/** Facts for a command; the command waits for all its facts. */
export type NextStepValue =
  /** OpenstackConfig as `namespace/name`, and both parts. */
  | 'config'
  | 'namespace'
  | 'name'
  | 'node'
  /** Business cluster. */
  | 'provider'
  | 'port'
  | 'server'
  /** Latest agent Job. */
  | 'job'
  /** The port's subnet, if spec.subnetIDs is the list to extend. */
  | 'listedSubnet'
  /** The port's subnet and spec.subnetID, if the field becomes a list. */
  | 'addedSubnet'
  | 'singleSubnet'
  /** The port's subnet, if the spec selects none. */
  | 'firstSubnet'
  /** First subnet in the spec. */
  | 'specSubnet'
  /** The port's server, if spec.vmNames is the list to extend. */
  | 'listedServer'
  /** The port's server, if the spec selects none. */
  | 'firstServer'
  /** Options to set the metadata and tags from spec.vmSelector on the port's server. */
  | 'selectorOptions'
  /** spec.settings.maxInterfaces plus 1, up to the maximum. */
  | 'raisedLimit'
  /** Namespace with a part's Deployment, and the part's waiting Pod. */
  | 'partNamespace'
  | 'waitingPod'
  /** Foreign address on the node, and the link. */
  | 'foreignAddress'
  | 'foreignLink';

/** Patch as JSON; a text `{value}` stands for the value. */
export type PatchJson =
  | string
  | number
  | boolean
  | readonly PatchJson[]
  | { readonly [key: string]: PatchJson };

/** Words for a shell; `{value}` stands for a value, an object for JSON. */
export type CommandRow = readonly (string | Exclude<PatchJson, string | number | boolean>)[];

/** The user's next action, as data. */
export interface NextStepRow {
  /** Absent: the reason's action. */
  readonly text?: Wording;
  readonly commands?: readonly CommandRow[];
  /** True: the commands work only after the correction in the text. */
  readonly isAfterText?: boolean;
  /** Commands without effect, such as a plan. */
  readonly preview?: readonly CommandRow[];
}

/** Returns a merge patch for the OpenstackConfig. */
export function patchConfig(patch: { readonly [key: string]: PatchJson }): CommandRow {
  return [...kubectlPatch, '--type', 'merge', '-p', patch];
}

/** Returns a command to append a value to a list in the OpenstackConfig's spec. */
export function appendToSpec(field: 'subnetIDs' | 'vmNames', value: string): CommandRow {
  const patch = [{ op: 'add', path: `/spec/${field}/-`, value }];
  return [...kubectlPatch, '--type', 'json', '-p', patch];
}

const kubectlPatch = ['kubectl', '-n', '{namespace}', 'patch', 'osc', '{name}'];

/** Returns a kubectl plugin command. */
export function multinic(...words: readonly string[]): CommandRow {
  return ['kubectl', 'multinic', ...words];
}

/** Returns an OpenStack CLI command. */
export function openstack(...words: readonly string[]): CommandRow {
  return ['openstack', ...words];
}

/** Requests a sync for the OpenstackConfig. */
export const syncConfig = [{ commands: [multinic('sync', '{config}')] }] as const;

/** Lists Viola's Pods; runs in the management cluster. */
export const listViolaPods = [
  { commands: [['kubectl', 'get', 'pods', '-A', '-l', `${labels.component}=viola`]] },
] as const;

/** Requests a sync after a correction; a sync before it ends with the same reason. */
export function correctAndSync(en: string, ko: string): readonly [NextStepRow] {
  return [{ text: { en, ko }, isAfterText: true, commands: [multinic('sync', '{config}')] }];
}

/** Lists every Node's systemUUID; runs in the business cluster. */
export const listSystemUuids = [
  {
    commands: [
      [
        'kubectl',
        'get',
        'nodes',
        '-o',
        'custom-columns=NAME:.metadata.name,UUID:.status.nodeInfo.systemUUID',
      ],
    ],
  },
] as const;
