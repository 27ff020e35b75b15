/** What an identity may do in one namespace: verbs by `resource`, or by `resource [name]`. */
export type Granted = ReadonlyMap<string, ReadonlySet<string>>;

/** One rule, as RBAC has it and as kubectl prints it. */
export interface PolicyRule {
  readonly resources: readonly string[];
  readonly names: readonly string[];
  readonly verbs: readonly string[];
}

/** Rules as a set: in which rule something stands, and in which order, decides nothing. */
export function grantedBy(rules: readonly PolicyRule[]): Granted {
  const granted = new Map<string, Set<string>>();
  for (const { resources, names, verbs } of rules) {
    for (const resource of resources) {
      for (const name of names.length > 0 ? names.map((one) => ` [${one}]`) : ['']) {
        const held = granted.get(resource + name) ?? new Set();
        for (const verb of verbs) held.add(verb);
        granted.set(resource + name, held);
      }
    }
  }
  return granted;
}

/** Rules of the table that `kubectl auth can-i --list` prints; those of URLs are left out. */
export function rulesOfList(text: string): readonly PolicyRule[] {
  return text.split('\n').flatMap((line) => {
    const [, resource = '', names = '', verbs = ''] =
      /^(\S+)\s+\[\]\s+\[(.*?)\]\s+\[(.*?)\]\s*$/.exec(line) ?? [];
    return resource === ''
      ? []
      : [{ resources: [resource], names: words(names), verbs: words(verbs) }];
  });
}

/** What is granted beside what everybody has. */
export function beside(granted: Granted, everybodys: Granted): Granted {
  return new Map(
    [...granted].flatMap(([what, verbs]) => {
      const own = [...verbs].filter((verb) => !everybodys.get(what)?.has(verb));
      return own.length > 0 ? [[what, new Set(own)] as const] : [];
    }),
  );
}

/** A golden file: a section for each namespace. */
export function page(sections: ReadonlyMap<string, Granted>): string {
  return [...sections]
    .map(([namespace, granted]) => {
      const lines = [...granted].map(
        ([what, verbs]) => `${what}: ${[...verbs].toSorted().join(' ')}`,
      );
      return [`# in ${namespace}`, ...lines.toSorted(), ''].join('\n');
    })
    .join('\n');
}

function words(text: string): string[] {
  return text.split(' ').filter((word) => word !== '');
}

/** An identity of an installation: in which cluster, and in which namespaces it is looked at. */
export interface Account {
  readonly file: string;
  readonly cluster: 'management' | 'business';
  readonly user: string;
  readonly namespaces: readonly string[];
}

const home = 'multinic-operator-system';

/** `default` stands for all namespaces that are nobody's business. */
export const accounts: readonly Account[] = [
  {
    file: 'operator.txt',
    cluster: 'management',
    user: `system:serviceaccount:${home}:multinic-operator`,
    namespaces: [home, 'multinic-system', 'multinic-clusters', 'default'],
  },
  {
    file: 'lifecycle.txt',
    cluster: 'management',
    user: 'system:serviceaccount:multinic-system:multinic-operator',
    namespaces: ['multinic-system', home, 'multinic-clusters', 'default'],
  },
  {
    file: 'viola.txt',
    cluster: 'management',
    user: `system:serviceaccount:${home}:viola-api`,
    namespaces: ['multinic-clusters', home, 'multinic-system', 'default'],
  },
  {
    file: 'controller.txt',
    cluster: 'business',
    user: 'system:serviceaccount:multinic-system:multinic-agent',
    namespaces: ['multinic-system', 'multinic-agents', 'default'],
  },
  {
    file: 'writer.txt',
    cluster: 'business',
    user: 'system:serviceaccount:multinic-system:viola',
    namespaces: ['multinic-system', 'multinic-agents', 'default'],
  },
  {
    file: 'agent.txt',
    cluster: 'business',
    user: 'system:serviceaccount:multinic-agents:multinic-agent',
    namespaces: ['multinic-system', 'multinic-agents', 'default'],
  },
];

/** Manifests in `deploy/rbac` of each cluster, in the order in which they are applied. */
export const manifests = {
  management: ['management', 'operator', 'viola', 'lifecycle'],
  business: ['namespaces', 'controller', 'viola-business'],
} as const;
