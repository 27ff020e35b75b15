import type { Component } from './bill-of-materials.ts';
import { isInRange } from './version-range.ts';

/** Advisory in the form of npm's registry. */
interface Advisory {
  readonly url: string;
  readonly title: string;
  readonly severity: string;
  readonly vulnerable_versions: string;
}

/** Known advisories at a point in time. */
export interface Snapshot {
  readonly date: string;
  /** Registry of the answers, and whether every package was answered. */
  readonly source: string;
  /** Keyed by package name. */
  readonly advisories: Readonly<Record<string, readonly Advisory[]>>;
}

type Versioned = Pick<Component, 'name' | 'version'>;

/** Returns a text per known advisory for these npm packages; empty without advisories. */
export function adviceOn(packages: readonly Versioned[], { advisories }: Snapshot): string[] {
  return packages.flatMap(({ name, version }) =>
    (advisories[name] ?? [])
      .filter((advisory) => isInRange(version, advisory.vulnerable_versions))
      .map(({ url, title, severity }) => `${name}@${version}: ${severity}: ${title} ${url}`),
  );
}

/** Queries npm's registry for advisories; the registry returns affected versions only. */
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
