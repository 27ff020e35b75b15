import type { Component } from './bill-of-materials.ts';
import { isInRange } from './version-range.ts';

/** One advisory as npm's registry answers them. */
export interface Advisory {
  readonly url: string;
  readonly title: string;
  readonly severity: string;
  readonly vulnerable_versions: string;
}

/** What was known of packages at some time. */
export interface Snapshot {
  readonly date: string;
  /** Who was asked, and how completely. */
  readonly source: string;
  /** By the name of the package. */
  readonly advisories: Readonly<Record<string, readonly Advisory[]>>;
}

type Versioned = Pick<Component, 'name' | 'version'>;

/** What is known of these packages of npm, one text each; empty when all is well. */
export function adviceOn(packages: readonly Versioned[], { advisories }: Snapshot): string[] {
  return packages.flatMap(({ name, version }) =>
    (advisories[name] ?? [])
      .filter((advisory) => isInRange(version, advisory.vulnerable_versions))
      .map(({ url, title, severity }) => `${name}@${version}: ${severity}: ${title} ${url}`),
  );
}

/** Asks npm's registry what it knows of these versions; it answers those that are affected only. */
export async function askRegistry(
  registry: string,
  packages: readonly Versioned[],
): Promise<Snapshot['advisories']> {
  const asked = Object.groupBy(packages, ({ name }) => name);
  const body = Object.fromEntries(
    Object.entries(asked).map(([name, all = []]) => [name, all.map(({ version }) => version)]),
  );
  const url = new URL('-/npm/v1/security/advisories/bulk', registry);
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${url.href} answers ${answer.status}: it has no advisories`);
  const all = (await answer.json()) as Record<string, readonly Advisory[]>;
  return Object.fromEntries(
    Object.entries(all).map(([name, list]) => [name, list.map(withoutScores)]),
  );
}

function withoutScores({ url, title, severity, vulnerable_versions }: Advisory): Advisory {
  return { url, title, severity, vulnerable_versions };
}
