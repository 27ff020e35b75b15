import type { Node } from '../../kube/core-resources.ts';
import type { AdmittedChanges } from './admitted-changes.ts';
import type { RolloutNodes } from './rollout-nodes.ts';

interface RolloutDomainsOptions {
  readonly records: Pick<RolloutNodes, 'allStarted'>;
  readonly admitted: Pick<AdmittedChanges, 'starting'>;
  readonly nodes: { get(name: string): Node | undefined };
  /** Node label that defines domains; undefined: no domains. */
  readonly domainLabel: string | undefined;
  /** Names of unfinished Jobs. */
  readonly openJobs: () => readonly string[];
}

/** Node domains; only a single domain changes at a time. */
export interface RolloutDomains {
  /** Returns a node's domain; undefined: there are no domains. */
  of(node: Node): string | undefined;
  /** Returns a domain with a run under way. */
  atWork(): string | undefined;
  /** Returns why a node must wait for nodes in another domain. */
  refusalOf(key: string, node: Node): string | undefined;
}

export function createRolloutDomains(options: RolloutDomainsOptions): RolloutDomains {
  const { records, admitted, nodes, domainLabel, openJobs } = options;

  /** Returns domains with a run under way, each with one such node. */
  function domainsAtWork(except?: string): ReadonlyMap<string, string> {
    if (domainLabel === undefined) return new Map();
    const jobs = new Set(openJobs());
    const open = [...records.allStarted()].filter(([, { job }]) => jobs.has(job));
    const names = [
      ...open.flatMap(([key, { node }]) => (key === except ? [] : node)),
      ...admitted.starting().flatMap(({ key, node }) => (key === except ? [] : node.metadata.name)),
    ];
    return new Map(names.map((name) => [domainOf(nodes.get(name), domainLabel) ?? name, name]));
  }

  return {
    of: (node) => domainOf(node, domainLabel),
    atWork: () => domainsAtWork().keys().next().value,
    refusalOf(key, node) {
      const own = domainOf(node, domainLabel);
      const other = [...domainsAtWork(key)].find(([domain]) => domain !== own);
      if (!other) return undefined;
      return `rollout: node ${other[1]} is being changed; nodes with another ${domainLabel} follow after those in ${other[0]}`;
    },
  };
}

/** A node without the label is a domain by itself. */
function domainOf(node: Node | undefined, label: string | undefined): string | undefined {
  if (label === undefined || !node) return undefined;
  const value = node.metadata.labels?.[label];
  return value === undefined ? `node ${node.metadata.name}` : `${label}=${value}`;
}
