import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { textOf } from './tree.ts';

interface Flow {
  readonly enabled?: boolean;
  readonly ports?: readonly number[];
}

/** Flows of `networkPolicy` in the values of both charts that have ports of their own, by name. */
function flows(): Map<string, Flow> {
  const charts = ['multinic-operator', 'multinic-agent'].map((chart) => {
    const values = parse(textOf(`charts/${chart}/values.yaml`)) as { networkPolicy: object };
    return Object.entries(values.networkPolicy).filter((entry): entry is [string, Flow] =>
      Array.isArray((entry[1] as Flow | null)?.ports),
    );
  });
  return new Map(charts.flat());
}

it.each(['docs/guides/production.md', 'docs/guides/production.ko.md'])(
  '[H11] the table of NetworkPolicies in %s states the default ports of each flow',
  (guide) => {
    const rows = textOf(guide)
      .split('\n')
      .filter((line) => /^\|.*`networkPolicy\.\w+` \|$/.test(line));
    expect(flows().size).toBeGreaterThan(4);
    for (const [name, { ports = [] }] of flows()) {
      const [row = ''] = rows.filter((line) => line.endsWith(`\`networkPolicy.${name}\` |`));
      const stated = row.match(/\b\d{2,5}\b/g) ?? [];
      expect([name, ...stated.map(Number)]).toEqual(expect.arrayContaining([name, ...ports]));
    }
  },
);

it.each(['docs/guides/production.md', 'docs/guides/production.ko.md'])(
  '[H11] the table of NetworkPolicies in %s calls no flow off that the values switch on',
  (guide) => {
    const off = textOf(guide)
      .split('\n')
      .flatMap(
        (line) =>
          /(?:off by default|기본은 꺼짐).*`networkPolicy\.(\w+)` \|$/.exec(line)?.[1] ?? [],
      );
    expect(off.filter((name) => flows().get(name)?.enabled !== false)).toEqual([]);
  },
);
